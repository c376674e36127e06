import type { Core } from '../core-dependencies.ts'
import { HASH_BYTES } from '../transparency-log/leaf-hashes.ts'
import { TILE_WIDTH } from '../transparency-log/merkle-tree.ts'
import { ensureLogSchema, openTransparencyLog, WrongLogKey } from '../transparency-log/open-log.ts'
import {
  readKeyRotations,
  readTile,
  selectCheckpoints,
  storedTree,
} from '../transparency-log/read-checkpoints-and-tiles.ts'
import type { ExportSource, SealedTree } from './generate-export-files.ts'
import { postgresRecords, type RecordReader, storeRecords } from './stored-record-reader.ts'

/**
 * The sealed transparency log of the site: a Merkle tree whose leaves were computed when the events
 * were written. A verification compares this tree with a tree over the events as they are stored
 * now.
 */
export type SealedLog = Required<SealedTree> & {
  /** The number of sealed events. */
  readonly size: number
  /**
   * The error if the log's key in the database differs from the key of this process, otherwise
   * null. A process with another key signs nothing.
   */
  readonly keyError: WrongLogKey | null
  /**
   * Returns up to `count` sealed leaf hashes, beginning with the leaf at index `first`. Returns
   * fewer hashes at the end of the log. A hash whose tile is lost is null.
   */
  readonly leafHashes: (first: number, count: number) => Promise<readonly (Buffer | null)[]>
}

/**
 * Opens the transparency log of the site. Returns null if no event is sealed. The trusted keys come
 * from the configuration of this process, because somebody who can change the events in the
 * database can also change a key there.
 */
export async function openSealedLog(core: Core): Promise<SealedLog | null> {
  const { pg, config } = core
  await ensureLogSchema(core)
  const { rows } = await pg.query<{ size: string }>(
    'select size from transparency_log.log where size > 0',
  )
  const [log] = rows
  if (log === undefined) return null
  const size = Number(log.size)
  return {
    size,
    ...(await ownKey(core)),
    keyRotations: await readKeyRotations(pg),
    witnessKeys: config.transparencyLog.witnesses.map(({ key }) => key),
    signedCheckpoints: (await selectCheckpoints(pg)).map(({ note }) => note),
    leafHashes: (first, count) => readLeafHashes(pg, first, Math.min(first + count, size)),
  }
}

/**
 * Reads the hashes of the leaves with the indexes from `first` (inclusive) to `end` (exclusive). A
 * lost hash is null, so that the later hashes keep their indexes.
 */
async function readLeafHashes(
  pg: Core['pg'],
  first: number,
  end: number,
): Promise<(Buffer | null)[]> {
  const hashes: (Buffer | null)[] = []
  let tile = Buffer.alloc(0)
  for (let leaf = first; leaf < end; leaf += 1) {
    const place = leaf % TILE_WIDTH
    if (leaf === first || place === 0) {
      tile = Buffer.from((await readTile(pg, 0, Math.floor(leaf / TILE_WIDTH), null)) ?? '')
    }
    const hash = tile.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES)
    hashes.push(hash.length === HASH_BYTES ? hash : null)
  }
  return hashes
}

async function ownKey(core: Core): Promise<Pick<SealedLog, 'keys' | 'keyError'>> {
  try {
    const { signer } = await openTransparencyLog(core)
    return { keys: [signer.verifierKey], keyError: null }
  } catch (error) {
    if (!(error instanceof WrongLogKey)) throw error
    return { keys: [], keyError: error }
  }
}

export const recordsOf = (core: Core): RecordReader =>
  core.config.eventStore.url === null ? postgresRecords(core.pg) : storeRecords(core.store)

export const exportSource = (core: Core): ExportSource => ({
  records: recordsOf(core),
  sealedTree: async () => {
    const log = await openSealedLog(core)
    if (log === null) return { signedCheckpoints: [], keys: [], witnessKeys: [] }
    const { signedCheckpoints, keys, keyRotations, witnessKeys, leafHashes } = log
    const consistencyProof = (size: number, newSize: number) =>
      storedTree(core.pg).consistencyProof(size, newSize)
    const tree = { signedCheckpoints, keys, keyRotations, witnessKeys }
    const rootAt = async (size: number) =>
      size > log.size
        ? null
        : await storedTree(core.pg)
            .root(size)
            .catch(() => null)
    return { ...tree, leafHashes, consistencyProof, rootAt }
  },
})

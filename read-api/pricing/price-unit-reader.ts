import type { CommonQueryMethods } from 'slonik'
import { mappedModelsOfChangedChannels, stateOfChannels } from '#projections/channels/query.ts'
import { PriceUnitIndex, type VideoPricingAt } from './price-unit-index.ts'
import { createSharedReads } from './shared-reads.ts'

type ReaderDeps = {
  readonly db: CommonQueryMethods
  readonly videoPricingAt: VideoPricingAt
  /** The channel types that this server supports. Channels of other types are ignored. */
  readonly servedTypes: readonly number[]
}

/**
 * Reads the units in which the channels bill their models. The returned index contains all changes
 * that were committed before the call.
 */
export type PriceUnitReader = () => Promise<PriceUnitIndex>

/**
 * Creates the reader of units that all routes of this process share. A read fetches only the
 * channels that have changed since the last read. The models and mappings of a thousand channels
 * are megabytes of data, and every visitor requests the prices. Concurrent callers share reads.
 * Otherwise, each of the first requests after a start would fetch all channels.
 */
export function createPriceUnitReader(deps: ReaderDeps): PriceUnitReader {
  const types = new Set(deps.servedTypes)
  const index = new PriceUnitIndex(deps.videoPricingAt)
  let upTo = -1
  let table: number | null = null
  const read = async (): Promise<PriceUnitIndex> => {
    const state = await stateOfChannels(deps.db)
    // A rebuild replaces the table, and may correct rows without a new position. If the database
    // was restored from an older backup, the last position is lower than `upTo`.
    const isContinued = state.table === table && state.position >= upTo
    if (isContinued && state.position === upTo) return index
    const changed = await mappedModelsOfChangedChannels(deps.db, isContinued ? upTo : -1)
    if (!isContinued) {
      index.clear()
      upTo = -1
    }
    for (const row of changed) {
      if (row.isDeleted || !types.has(row.type)) index.remove(row.id)
      else index.put(row)
    }
    upTo = changed.reduce((last, row) => Math.max(last, row.changedPosition), upTo)
    table = state.table
    return index
  }
  return createSharedReads(read)
}

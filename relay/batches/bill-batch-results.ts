import type { BatchRecord, BillLines } from '#domain/batches/decide.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { isDatabaseAway } from '#infra/postgres/query-timeouts.ts'
import { type DescribeDeps, type Described, protocolOf } from './ask-provider-about-batch.ts'
import type { BatchLedger } from './batch-ledger.ts'
import { fromStore } from './batch-store.ts'
import { billOfResultLine } from './bill-of-result-line.ts'
import { ResultsUnavailable, resultLines } from './download-batch-results-from-provider.ts'
import { outlinedResults } from './long-results.ts'
import { deniesAccess } from './record-denied-batch-access.ts'
import type { ResultsMemory } from './result-memory-and-rate.ts'

/** The provider's description of a batch that has ended, and the memory for reading its results. */
export type Settling = Described & { readonly memory: ResultsMemory }

export type BilledResults = {
  /** The number of results that could not be read. They cost nothing. */
  readonly unreadableLines: number
  /** The length of all results in bytes, as the provider sent them. */
  readonly bytes: number
}

/** The maximum number of lines that one event bills. */
const LINES_AT_ONCE = 200
const NO_RESULTS: BilledResults = { unreadableLines: 0, bytes: 0 }

/**
 * Downloads the results of a batch and bills all lines with an answer. Returns `denied` if the
 * provider denies access to the results.
 */
export async function billResults(
  deps: DescribeDeps & { readonly ledger: Pick<BatchLedger, 'bill'> },
  record: BatchRecord,
  { description: { results }, key, memory }: Settling,
  signal: AbortSignal,
): Promise<BilledResults | 'denied'> {
  if (results === null) return NO_RESULTS
  const { ledger, batchStore } = deps
  const { batch } = record.submitted
  const facts = await fromStore(batchStore.linesOf(batch))
  const { headers, splits, answerPath } = protocolOf(record)
  let index = -1
  let bytes = 0
  let unreadableLines = 0
  let lines: BillLines['lines'][number][] = []
  const download = {
    ...{ keys: [key], path: results, headers },
    ...(splits === undefined ? {} : { splits }),
    onBytes: (count: number) => {
      bytes += count
    },
  }
  const failures: unknown[] = []
  const onUnreadable = (err: unknown) => {
    if (failures.length === 0) failures.push(err)
  }
  const context = { record, key, facts, onUnreadable }
  const billRead = async (): Promise<void> => {
    const read = lines
    lines = []
    if (read.length > 0) await fromEventStore(ledger.bill(batch, read))
  }
  try {
    const parts = resultLines(deps, download, memory, signal)
    for await (const result of outlinedResults(parts, answerPath)) {
      index += 1
      const line = await billOfResultLine(deps, result, { ...context, index })
      if (line === 'unreadable') unreadableLines += 1
      else if (line !== null) lines.push(line)
      if (lines.length >= LINES_AT_ONCE) await billRead()
    }
  } catch (err) {
    // The provider has delivered the results before the failure, so they are billed in any case.
    await billRead()
    if (err instanceof ResultsUnavailable && deniesAccess(err.status)) return 'denied'
    throw err
  }
  await billRead()
  if (unreadableLines > 0) {
    deps.log.warn({ call: batch, unreadable: unreadableLines }, UNREADABLE)
  }
  for (const err of failures) {
    deps.log.warn({ err, call: batch, channelId: record.place?.channelId }, ESTIMATED)
  }
  return { unreadableLines, bytes }
}

const UNREADABLE = 'results of a batch could not be read'
const ESTIMATED = 'a result of a batch could not be read completely'

/**
 * Awaits an append. Rejects with `StoreUnavailable` only if the event store can't be reached. Any
 * other failure is passed on unchanged and counts as a failure of the provider. It would occur
 * again with each attempt, and the batch must not stay unsettled forever.
 */
const fromEventStore = <T>(append: Promise<T>): Promise<T> =>
  append.catch((cause: unknown) => {
    if (!isDatabaseAway(cause)) throw cause
    throw new StoreUnavailable('lines of a batch could not be billed', { cause })
  })

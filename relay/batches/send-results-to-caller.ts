import { StoreUnavailable } from '#infra/event-store/port.ts'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { type Exchange, headersOf, sendError } from '../pipeline/http-exchange.ts'
import { bodyShareOf, copiesShareOf } from '../pipeline/user-share-of-body-memory.ts'
import {
  ANTHROPIC_BATCHES,
  RESULTS_ACTION,
  renderResult,
  rulesOfLongResult,
} from './anthropic-batches.ts'
import { confidentialAt } from './ask-provider-about-batch.ts'
import { asUnbilled, asWithheld, type FindShownLine, pathOfBatch } from './batch-protocol.ts'
import { fromStore, type StoredBatch } from './batch-store.ts'
import { downloadError, resultLines } from './download-batch-results-from-provider.ts'
import type { RuleOf } from './filter-json-members.ts'
import { type Download, endCutDownload, whileDownloading } from './limit-downloads.ts'
import { renderedResults } from './long-results.ts'
import { lineId } from './plan-batch.ts'
import { ResultsMemory, ResultsMemoryFull } from './result-memory-and-rate.ts'
import { resultScreen } from './screen-results.ts'
import type { BatchDeps } from './settle-batch.ts'
import {
  type BatchHandler,
  idOfBatch,
  type Placed,
  placeOfBatch,
  unfinished,
} from './show-list-cancel-and-delete-batches.ts'

/** Sends the results of an Anthropic batch to the caller. */
export const sendResults: BatchHandler = async (deps, exchange, stored, _settle, caller) => {
  if (!stored.isSettled) return sendError(exchange, unfinished(stored))
  const upstreamId = (await deps.ledger.peek(stored.batch))?.place?.upstreamId ?? ''
  const { headers, answerPath } = ANTHROPIC_BATCHES
  const path = pathOfBatch(ANTHROPIC_BATCHES, upstreamId, RESULTS_ACTION)
  const rendering = { answerPath, render: renderResult, rulesOfLong: rulesOfLongResult }
  const shown = { ...rendering, path, headers, type: 'application/x-jsonl' }
  await sendRenderedLines(deps, exchange, { stored, caller }, shown)
}

export type ShownResults = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  readonly answerPath: string
  /**
   * Converts a line of the provider's results to the line for the caller. Returns null for a line
   * that the caller must not see.
   */
  readonly render: (
    line: string,
    lineOf: FindShownLine,
    confidential: readonly string[],
  ) => string | null
  /** See `ResultRendering`. */
  readonly rulesOfLong: (outline: string, lineOf: FindShownLine) => RuleOf | null
}

/** `lines` is the number of lines whose facts are in memory while the results are read. */
type ReadResults = {
  readonly caller: Caller
  readonly stored: StoredBatch
  readonly placed: Placed
  readonly lines: number
}

const BUSY = relayError('overloaded', { retryAfter: 5 })
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Reserves memory in which the results of a batch with this number of lines are read for the
 * caller, and then calls `work`. Sends an error if too little memory is left in total or for this
 * user.
 */
export async function sendWithMemoryForResults(
  deps: BatchDeps,
  exchange: Exchange,
  results: ReadResults,
  work: (memory: ResultsMemory, download: Download) => Promise<void>,
): Promise<void> {
  await whileDownloading(deps, exchange, results.caller, (download) =>
    withMemory(deps, exchange, results, download, (memory) => work(memory, download)),
  )
}

async function withMemory(
  deps: BatchDeps,
  exchange: Exchange,
  { caller, stored, placed, lines }: ReadResults,
  { signal }: Download,
  work: (memory: ResultsMemory) => Promise<void>,
): Promise<void> {
  const owner = copiesShareOf(await bodyShareOf(deps, caller.user.userId, exchange.request))
  const memory = ResultsMemory.reserve(deps.bodyMemory, owner, lines)
  if (memory === null) return sendError(exchange, BUSY)
  try {
    await work(memory)
  } catch (error) {
    const isOfStore = error instanceof StoreUnavailable
    if (isOfStore) deps.log.error({ err: error, call: exchange.call }, 'results were not read')
    if (exchange.response.headersSent) {
      const { channelId } = placed.record.place ?? {}
      endCutDownload(deps, exchange, signal, { err: error, call: stored.batch, channelId })
    } else if (error instanceof ResultsMemoryFull) sendError(exchange, BUSY)
    else sendError(exchange, isOfStore ? NO_STORE : downloadError(error, idOfBatch(stored)))
  } finally {
    memory.close()
  }
}

/**
 * Downloads the results of a batch and sends them to the caller line by line. If the caller reads
 * slowly, the download is paused.
 */
export async function sendRenderedLines(
  deps: BatchDeps,
  exchange: Exchange,
  { stored, caller }: { readonly stored: StoredBatch; readonly caller: Caller },
  shown: ShownResults,
): Promise<void> {
  const placed = await placeOfBatch(deps, stored)
  if (isRelayError(placed)) return sendError(exchange, placed)
  const { lines } = placed.record.submitted
  const read = { caller, stored, placed, lines }
  await sendWithMemoryForResults(deps, exchange, read, (memory, download) =>
    writeRenderedLines(deps, exchange, placed, shown, { memory, download }),
  )
}

async function writeRenderedLines(
  deps: BatchDeps,
  exchange: Exchange,
  { record, keys }: Placed,
  { path, headers, type, answerPath, render, rulesOfLong }: ShownResults,
  { memory, download }: { readonly memory: ResultsMemory; readonly download: Download },
): Promise<void> {
  const { batch, parts } = record.submitted
  const confidential = confidentialAt(deps.views, record)
  const facts = await fromStore(deps.batchStore.linesOf(batch))
  // The provider may still deliver results after the gateway has ended a batch without them. Only
  // the billed lines of such a batch are shown.
  const isComplete = record.end === null || record.end.cause === 'done'
  const lineOf: FindShownLine = (customId) => {
    const fact = facts.get(lineId(batch, customId))
    const model = fact === undefined ? undefined : parts[fact.part]?.model
    if (fact === undefined || model === undefined) return null
    const isBilled = record.billed.has(fact.line)
    return isComplete || isBilled ? { model, isBilled, format: fact.format } : null
  }
  const screen = resultScreen(deps, exchange, record)
  const renderWithheld = async (line: string, beginning?: Buffer) => {
    const withheld = screen === null ? null : await screen(line, lineOf, beginning)
    return withheld === null ? null : render(line, asWithheld(lineOf, withheld), confidential)
  }
  const { response } = exchange
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, [...headersOf(exchange), 'Content-Type', type])
  }
  const source = { keys, keyRef: record.place?.keyRef ?? '', path, headers }
  const results = renderedResults(resultLines(deps, source, memory, download.signal), {
    answerPath,
    render: async (line) => (await renderWithheld(line)) ?? render(line, lineOf, confidential),
    rulesOfLong: (outline) => rulesOfLong(outline, lineOf),
    renderWithheld,
    renderUnshown: (outline) => render(outline, asUnbilled(lineOf), confidential),
  })
  for await (const { data, isLast } of results) {
    begin()
    await download.write(data)
    if (isLast) await download.write('\n')
  }
  begin()
  response.end()
}

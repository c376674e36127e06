import { isRelayError, relayError } from '../canonical/relay-error.ts'
import { outOfRange } from '../dialects/read-common-request-members.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import { confidentialAt } from './ask-provider-about-batch.ts'
import { pathOfBatch, type ShownLine } from './batch-protocol.ts'
import { fromStore, type StoredBatch } from './batch-store.ts'
import { openDownload } from './download-batch-results-from-provider.ts'
import {
  GEMINI_BATCHES,
  geminiBatchOf,
  geminiIdOf,
  RESULT_RULES,
  renderGeminiResult,
  rulesOfLongGeminiResult,
} from './gemini-batches.ts'
import type { Download } from './limit-downloads.ts'
import { type ResultPart, renderedResults, type ShownPart } from './long-results.ts'
import { renderStoredBatch } from './render-batch.ts'
import { atLeastRate, type ResultsMemory } from './result-memory-and-rate.ts'
import { resultScreen, type ScreenResult } from './screen-results.ts'
import { sendWithMemoryForResults } from './send-results-to-caller.ts'
import type { BatchDeps } from './settle-batch.ts'
import {
  type BatchHandler,
  batchNotFound,
  cancelAtProvider,
  type Placed,
  placeOfBatch,
  settleSoon,
} from './show-list-cancel-and-delete-batches.ts'
import { elementsIn } from './split-json-array.ts'

const PAGE = { usual: 50, most: 1_000 }

/**
 * Sends the description of a batch to the caller. The description contains the results once the
 * batch is settled.
 */
export const showGeminiBatch: BatchHandler = async (deps, exchange, stored, settle, caller) => {
  await settleSoon(deps, settle, stored)
  const current = await deps.batchStore.find(stored.userId, stored.batch)
  if (current === undefined) return sendError(exchange, batchNotFound(geminiIdOf(stored.batch)))
  if (!current.isSettled || !(await hasResults(deps, current))) {
    return sendJson(exchange, 200, await renderStoredBatch(deps, current))
  }
  await sendWithResults(deps, exchange, current, caller)
}

async function hasResults({ vault }: BatchDeps, { userId, object }: StoredBatch): Promise<boolean> {
  const text = object === null ? null : await vault.open(userId, object)
  return text !== null && (JSON.parse(text) as { hasResults?: unknown }).hasResults === true
}

/**
 * Sends the description of a settled batch with its results, which are downloaded from the provider
 * at the same time. The description contains the results twice, because Google's clients read them
 * from the member `metadata` and other clients from `response`.
 */
async function sendWithResults(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
  caller: Caller,
): Promise<void> {
  const placed = await placeOfBatch(deps, stored)
  if (isRelayError(placed)) return sendError(exchange, placed)
  // The number of lines is given as 0, because no memory is needed for the facts of the lines.
  const read = { caller, stored, placed, lines: 0 }
  await sendWithMemoryForResults(deps, exchange, read, (memory, download) =>
    writeWithResults(deps, exchange, stored, placed, { memory, download }),
  )
}

async function writeWithResults(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
  placed: Placed,
  { memory, download }: { readonly memory: ResultsMemory; readonly download: Download },
): Promise<void> {
  const { metadata, ...others } = (await fromStore(renderStoredBatch(deps, stored))) as Readonly<
    Record<string, unknown>
  >
  const { response } = exchange
  const write = async (text: string | Buffer): Promise<void> => {
    if (!response.headersSent) {
      response.writeHead(200, [...headersOf(exchange), 'Content-Type', 'application/json'])
    }
    await download.write(text)
  }
  const shownTo = { screen: resultScreen(deps, exchange, placed.record), signal: download.signal }
  // The response begins only when the first result has arrived. If the provider fails before that,
  // the caller receives an error response.
  const writeResults = async (head: string): Promise<void> => {
    let before = `${head}${BEGIN}`
    for await (const { data, isLast } of shownResults(deps, placed, memory, shownTo)) {
      if (before !== '') await write(before)
      await write(data)
      before = isLast ? ',' : ''
    }
    await write(before === ',' ? END : `${before}${END}`)
  }
  const opened = (object: unknown): string => JSON.stringify(object).slice(0, -1)
  const head = `${opened(others)},"metadata":${opened(metadata)},"output":`
  await writeResults(head)
  await writeResults('},"response":')
  response.end('}')
}

const BEGIN = '{"inlinedResponses":{"inlinedResponses":['
const END = ']}}'

/** `screen` is null if the results are not screened. */
type ShownTo = { readonly screen: ScreenResult | null; readonly signal: AbortSignal }

async function* shownResults(
  deps: BatchDeps,
  placed: Placed,
  memory: ResultsMemory,
  { screen, signal }: ShownTo,
): AsyncGenerator<ShownPart> {
  const { record, keys } = placed
  const confidential = confidentialAt(deps.views, record)
  const model = record.submitted.parts[0]?.model ?? ''
  const path = pathOfBatch(GEMINI_BATCHES, record.place?.upstreamId ?? '')
  const download = { keys, keyRef: record.place?.keyRef ?? '', path, headers: {} }
  const content = atLeastRate(await openDownload(deps, download, signal))
  const { lines } = record.submitted
  let index = -1
  let line: ShownLine = { model, isBilled: false }
  const next = () => {
    index += 1
    line = { model, isBilled: record.billed.has(index) }
    return line
  }
  const renderWithheld = async (result: string, beginning?: Buffer) => {
    const withheld = screen === null ? null : await screen(result, () => line, beginning)
    return withheld === null
      ? null
      : renderGeminiResult(result, { ...line, withheld }, confidential)
  }
  const parts = firstResults(elementsIn(content, RESULT_RULES, memory), lines)
  yield* renderedResults(parts, {
    answerPath: GEMINI_BATCHES.answerPath,
    render: async (result) => {
      const shown = next()
      return (await renderWithheld(result)) ?? renderGeminiResult(result, shown, confidential)
    },
    rulesOfLong: (outline) => rulesOfLongGeminiResult(outline, next()),
    renderWithheld,
    renderUnshown: (outline) =>
      renderGeminiResult(outline, { model, isBilled: false }, confidential),
  })
}

/**
 * Yields the first `max` results. If there are more results than requests, the surplus results were
 * not billed.
 */
async function* firstResults(
  parts: AsyncIterable<ResultPart>,
  max: number,
): AsyncGenerator<ResultPart> {
  let count = 0
  for await (const part of parts) {
    if (count === max) return
    yield part
    if (Buffer.isBuffer(part) || part.isLast) count += 1
  }
}

/** Sends a page of the caller's batches of Gemini's API, without their results. */
export async function listGeminiBatches(
  deps: BatchDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const invalid = (param: string) => sendError(exchange, relayError('invalid_parameter', { param }))
  const size = Number(query.get('pageSize') ?? query.get('page_size') ?? PAGE.usual)
  if (!Number.isInteger(size) || size < 1) {
    return sendError(exchange, outOfRange('pageSize', 1, PAGE.most))
  }
  const limit = Math.min(size, PAGE.most)
  const token = query.get('pageToken') ?? query.get('page_token') ?? ''
  const after = token === '' ? null : geminiBatchOf(token)
  if (token !== '' && after === null) return invalid('pageToken')
  const page = { limit: limit + 1, ...(after === null ? {} : { after }) }
  const found = await deps.batchStore.list(userId, 'gemini', page)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const isMore = found.length > limit && last !== undefined
  sendJson(exchange, 200, {
    operations: await Promise.all(shown.map((stored) => renderStoredBatch(deps, stored))),
    ...(isMore ? { nextPageToken: geminiIdOf(last.batch) } : {}),
  })
}

export const cancelGeminiBatch: BatchHandler = async (deps, exchange, stored) => {
  if (!stored.isSettled) {
    const canceled = await cancelAtProvider(deps, stored)
    if (isRelayError(canceled)) return sendError(exchange, canceled)
  }
  sendJson(exchange, 200, {})
}

import { once } from 'node:events'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import type { StoredBatch } from './batch-store.ts'
import { openDownload } from './download-batch-results.ts'
import {
  GEMINI_BATCHES_PATH,
  geminiBatchOf,
  geminiIdOf,
  RESULT_RULES,
  renderGeminiResult,
} from './gemini-batches.ts'
import { type BatchDeps, confidentialAt, type Settle } from './settle-batch.ts'
import {
  errorAbout,
  find,
  missing,
  type Placed,
  placeOfBatch,
  rendered,
  sendAbout,
  settleSoon,
} from './show-cancel-and-delete-batches.ts'
import { elementsIn } from './split-json-array.ts'

const PAGE = { usual: 50, most: 1_000 }
/** The maximum time in which a caller must have read the results. */
const RESULTS_MS = 3_600_000

/** Shows a batch, with its results once it is settled. */
export async function showGeminiBatch(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
  settle: Settle,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  await settleSoon(deps, settle, stored)
  const current = await find(deps, caller, id)
  if (current === null) return sendError(exchange, missing(id))
  if (!current.isSettled || !(await hasResults(deps, current))) {
    return sendJson(exchange, 200, await rendered(deps, current))
  }
  await sendWithResults(deps, exchange, current)
}

async function hasResults({ vault }: BatchDeps, { userId, object }: StoredBatch): Promise<boolean> {
  const text = object === null ? null : await vault.open(userId, object)
  return text !== null && (JSON.parse(text) as { hasResults?: unknown }).hasResults === true
}

/**
 * Sends a settled batch with its results, which are downloaded from the provider at the same time.
 * They are sent twice, because Google's clients read the member `metadata` and other clients read
 * `response`.
 */
async function sendWithResults(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
): Promise<void> {
  const placed = await placeOfBatch(deps, stored)
  if (isRelayError(placed)) return sendError(exchange, placed)
  const shown = (await rendered(deps, stored)) as Readonly<Record<string, unknown>>
  const { metadata, ...others } = shown
  const { response } = exchange
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(RESULTS_MS)])
  const write = async (text: string): Promise<void> => {
    if (!response.headersSent) {
      response.writeHead(200, [...headersOf(exchange), 'Content-Type', 'application/json'])
    }
    if (!response.write(text)) await once(response as never, 'drain', { signal })
  }
  // The response begins with the first result, so that a failure of the provider is an error.
  const writeResults = async (head: string): Promise<void> => {
    let before = `${head}${BEGIN}`
    for await (const text of renderedResults(deps, placed, signal)) {
      await write(`${before}${text}`)
      before = ','
    }
    await write(before === ',' ? END : `${before}${END}`)
  }
  const opened = (object: unknown): string => JSON.stringify(object).slice(0, -1)
  try {
    const head = `${opened(others)},"metadata":${opened(metadata)},"output":`
    await writeResults(head)
    await writeResults('},"response":')
    response.end('}')
  } catch {
    if (response.headersSent) response.destroy()
    else sendError(exchange, relayError('upstream_unreachable'))
  }
}

const BEGIN = '{"inlinedResponses":{"inlinedResponses":['
const END = ']}}'

async function* renderedResults(
  deps: BatchDeps,
  placed: Placed,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { record, keys } = placed
  const confidential = confidentialAt(deps.views, record)
  const model = record.submitted.parts[0]?.model ?? ''
  const path = `${GEMINI_BATCHES_PATH}/${encodeURIComponent(record.place?.upstreamId ?? '')}`
  const content = await openDownload(deps, { keys, path, headers: {} }, signal)
  const { lines } = record.submitted
  let index = 0
  for await (const element of elementsIn(content, RESULT_RULES)) {
    // Further results were not billed.
    if (index === lines) break
    index += 1
    yield renderGeminiResult(element, model, confidential)
  }
}

/** Lists the batches of Gemini's API, without their results. */
export async function listGeminiBatches(
  deps: BatchDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const invalid = (param: string) => sendError(exchange, relayError('invalid_parameter', { param }))
  const size = Number(query.get('pageSize') ?? query.get('page_size') ?? PAGE.usual)
  if (!Number.isInteger(size) || size < 1) return invalid('pageSize')
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
    operations: await Promise.all(shown.map((stored) => rendered(deps, stored))),
    ...(isMore ? { nextPageToken: geminiIdOf(last.batch) } : {}),
  })
}

export async function cancelGeminiBatch(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  if (!stored.isSettled) {
    const placed = await placeOfBatch(deps, stored)
    if (isRelayError(placed)) return sendError(exchange, placed)
    const end = await sendAbout(deps, placed, 'POST', ':cancel')
    if (end?.kind !== 'plain') return sendError(exchange, errorAbout(stored, placed, end))
  }
  sendJson(exchange, 200, {})
}

import { setTimeout as delay } from 'node:timers/promises'
import type { BatchRecord } from '#domain/batches/decide.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import { limitIn } from '../pipeline/read-page-limit.ts'
import { bodyShareOf, copiesShareOf } from '../pipeline/user-share-of-body-memory.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { mayBeOfOtherAccount, sendWithKeys } from '../views/submission-checks-and-key-retries.ts'
import {
  ANTHROPIC_BATCHES,
  batchOfId,
  publicIdOf,
  RESULTS_ACTION,
  renderResult,
  rulesOfLongResult,
} from './anthropic-batches.ts'
import { confidentialAt, keysOf, protocolOf } from './ask-provider-about-batch.ts'
import { asUnbilled, type FindShownLine, pathOfBatch } from './batch-protocol.ts'
import { fromStore, type PageOfBatches, type StoredBatch } from './batch-store.ts'
import { downloadError, resultLines } from './download-batch-results-from-provider.ts'
import type { RuleOf } from './filter-json-members.ts'
import { geminiBatchOf, geminiIdOf } from './gemini-batches.ts'
import { type Download, whileDownloading } from './limit-downloads.ts'
import { renderedResults } from './long-results.ts'
import { openAiBatchOf, openAiIdOf } from './openai-batches.ts'
import { lineId } from './plan-batch.ts'
import { renderStoredBatch } from './render-batch.ts'
import { ResultsMemory, ResultsMemoryFull } from './result-memory-and-rate.ts'
import type { BatchDeps, Settle } from './settle-batch.ts'

/** The maximum time for which a request about a batch waits until an ended batch is settled. */
const SETTLED_WITHIN_MS = 3_000
const PAGE_MAX = 1_000
const PAGE_DEFAULT = 20

/** Finds a batch by its public id. Returns null if the caller's user has no such batch. */
export async function findBatch(
  { batchStore }: BatchDeps,
  { user: { userId } }: Caller,
  id: string,
): Promise<StoredBatch | null> {
  const ids = { anthropic: batchOfId(id), openai: openAiBatchOf(id), gemini: geminiBatchOf(id) }
  const batch = ids.anthropic ?? ids.openai ?? ids.gemini
  const found = batch === null ? undefined : await batchStore.find(userId, batch)
  return found !== undefined && ids[found.api] === batch ? found : null
}

export const batchNotFound = (id: string): RelayError =>
  relayError('batch_not_found', { subject: id.slice(0, 64) })
const unfinished = (stored: StoredBatch): RelayError =>
  relayError('batch_not_ended', { subject: idOfBatch(stored) })

/** Handles a request about the batch `stored`, which belongs to the user of `caller`. */
export type BatchHandler = (
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
  settle: Settle,
  caller: Caller,
) => Promise<void>

export const showBatch: BatchHandler = async (deps, exchange, stored, settle) => {
  await settleSoon(deps, settle, stored)
  await sendCurrent(deps, exchange, stored)
}

/**
 * Settles a batch if it has ended at the provider. Resolves when this is done or after
 * `SETTLED_WITHIN_MS`.
 */
export async function settleSoon(
  deps: BatchDeps,
  settle: Settle,
  stored: StoredBatch,
): Promise<void> {
  if (stored.isSettled) return
  const settling = settle(stored).catch((err: unknown) => {
    deps.log.warn({ err, call: stored.batch }, 'a batch could not be settled')
  })
  await Promise.race([settling, delay(SETTLED_WITHIN_MS, undefined, { ref: false })])
}

/**
 * Reads a batch again and sends its description, or an error if the batch was deleted in the
 * meantime.
 */
async function sendCurrent(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
): Promise<void> {
  const current = await deps.batchStore.find(stored.userId, stored.batch)
  if (current === undefined) return sendError(exchange, batchNotFound(idOfBatch(stored)))
  sendJson(exchange, 200, await renderStoredBatch(deps, current))
}

export async function listBatches(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
): Promise<void> {
  const page = pageOf(exchange)
  if ('code' in page) return sendError(exchange, page)
  const query = { ...page, limit: page.limit + 1 }
  const found = await deps.batchStore.list(caller.user.userId, 'anthropic', query)
  const isBackwards = page.before !== undefined
  const shown = isBackwards ? found.slice(-page.limit) : found.slice(0, page.limit)
  const data = await Promise.all(shown.map((stored) => renderStoredBatch(deps, stored)))
  const [first, last] = [shown[0], shown.at(-1)].map((one) => one && publicIdOf(one.batch))
  sendJson(exchange, 200, {
    data,
    has_more: found.length > page.limit,
    first_id: first ?? null,
    last_id: last ?? null,
  })
}

const OPENAI_PAGE_MAX = 100

/** Sends a page of the caller's batches of OpenAI's API. */
export async function listOpenAiBatches(
  deps: BatchDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const limit = limitIn(query, { usual: PAGE_DEFAULT, most: OPENAI_PAGE_MAX })
  if (typeof limit !== 'number') return sendError(exchange, limit)
  const id = query.get('after')
  const after = id === null ? null : openAiBatchOf(id)
  if (id !== null && after === null) {
    return sendError(exchange, relayError('invalid_parameter', { param: 'after' }))
  }
  const page = { limit: limit + 1, ...(after === null ? {} : { after }) }
  const found = await deps.batchStore.list(userId, 'openai', page)
  const shown = found.slice(0, limit)
  const [first, last] = [shown[0], shown.at(-1)].map((one) => one && openAiIdOf(one.batch))
  sendJson(exchange, 200, {
    object: 'list',
    data: await Promise.all(shown.map((stored) => renderStoredBatch(deps, stored))),
    has_more: found.length > limit,
    first_id: first ?? null,
    last_id: last ?? null,
  })
}

function pageOf({ request: { url = '' } }: Exchange): PageOfBatches | RelayError {
  const query = queryIn(url)
  const limit = limitIn(query, { usual: PAGE_DEFAULT, most: PAGE_MAX })
  if (typeof limit !== 'number') return limit
  const page: { limit: number; before?: string; after?: string } = { limit }
  for (const [name, key] of [['before_id', 'before'] as const, ['after_id', 'after'] as const]) {
    const id = query.get(name)
    const batch = id === null ? null : batchOfId(id)
    if (id !== null && batch === null) return relayError('invalid_parameter', { param: name })
    if (batch !== null) page[key] = batch
  }
  return page
}

export const cancelBatch: BatchHandler = async (deps, exchange, stored) => {
  if (!stored.isSettled) {
    const canceled = await cancelAtProvider(deps, stored)
    if (isRelayError(canceled)) return sendError(exchange, canceled)
    const { record, body } = canceled
    const description = protocolOf(record).readDescription(body, confidentialAt(deps.views, record))
    if (description !== null) {
      const sealed = await deps.vault.seal(stored.userId, JSON.stringify(description.object))
      await deps.batchStore.describe(stored.batch, sealed)
    }
  }
  await sendCurrent(deps, exchange, stored)
}

/**
 * Asks the provider to cancel a batch. Returns the provider's answer, or the error for the caller.
 */
export async function cancelAtProvider(
  deps: BatchDeps,
  stored: StoredBatch,
): Promise<{ readonly record: BatchRecord; readonly body: Buffer } | RelayError> {
  const placed = await placeOfBatch(deps, stored)
  if (isRelayError(placed)) return placed
  const { record } = placed
  const end = await sendAbout(deps, placed, 'POST', protocolOf(record).cancelAction)
  return end?.kind === 'plain' ? { record, body: end.body } : errorAbout(stored, placed, end)
}

/**
 * Deletes a settled batch. A batch that is not settled can't be deleted, because its results are
 * needed to bill it.
 */
export const deleteBatch: BatchHandler = async (deps, exchange, stored) => {
  if (!stored.isSettled) return sendError(exchange, unfinished(stored))
  const placed = await placeOfBatch(deps, stored)
  // The keys of a deleted channel no longer exist, so nobody can read the batch at the provider.
  const end = isRelayError(placed) ? null : await sendAbout(deps, placed, 'DELETE', '')
  // If the key that submitted the batch was replaced by a key of another account, nobody can delete
  // the batch at the provider. Only the gateway's record is then deleted.
  const isGone = end?.kind !== 'failed' || end.status === 404
  if (!isGone && !isRelayError(placed) && !isOfOtherAccount(placed, end)) {
    return sendError(exchange, relayError('upstream_error'))
  }
  await deps.batchStore.remove(stored.batch, stored.holder)
  const deleted = { id: publicIdOf(stored.batch), type: 'message_batch_deleted' }
  sendJson(exchange, 200, stored.api === 'gemini' ? {} : deleted)
}

export type Placed = { readonly record: BatchRecord; readonly keys: readonly RelayKey[] }

/**
 * Returns the record of a batch and the keys for requests about it. Returns the error for the
 * caller if there is no provider to ask.
 */
export async function placeOfBatch(
  deps: BatchDeps,
  stored: StoredBatch,
): Promise<Placed | RelayError> {
  const record = await deps.ledger.peek(stored.batch)
  const subject = idOfBatch(stored)
  if (record === null || record.place === null) {
    return relayError('batch_not_accepted', { subject, retryAfter: 10 })
  }
  const keys = keysOf(deps, record)
  return keys.length === 0 ? relayError('channel_deleted', { subject }) : { record, keys }
}

/** Returns the public id of a batch, which callers see. */
export const idOfBatch = ({ api, batch }: Pick<StoredBatch, 'api' | 'batch'>): string =>
  ({ anthropic: publicIdOf, openai: openAiIdOf, gemini: geminiIdOf })[api](batch)

function sendAbout(
  { batchOutbound }: BatchDeps,
  { record, keys }: Placed,
  method: 'POST' | 'DELETE',
  action: string,
) {
  const protocol = protocolOf(record)
  const path = pathOfBatch(protocol, record.place?.upstreamId ?? '', action)
  const request = { method, path, headers: protocol.headers }
  return sendWithKeys(keys, ({ target }) => sendTaskRequest(batchOutbound, target, request))
}

/**
 * Reports whether the request failed because the key that submitted the batch was replaced by keys
 * that may belong to another account.
 */
const isOfOtherAccount = ({ record, keys }: Placed, end: AttemptEnd | null): boolean =>
  end?.kind === 'failed' &&
  mayBeOfOtherAccount(end.status) &&
  keys.every(({ keyRef }) => keyRef !== record.place?.keyRef)

/** Returns the error for the caller after a request about a batch failed at the provider. */
const errorAbout = (stored: StoredBatch, placed: Placed, end: AttemptEnd | null): RelayError =>
  isOfOtherAccount(placed, end)
    ? relayError('key_replaced', { subject: idOfBatch(stored) })
    : relayError('upstream_error')

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

/** `subject` is the public id of the batch, `lines` the number of its lines. */
type ReadResults = { readonly caller: Caller; readonly subject: string; readonly lines: number }

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
    withMemory(deps, exchange, results, (memory) => work(memory, download)),
  )
}

async function withMemory(
  deps: BatchDeps,
  exchange: Exchange,
  { caller, subject, lines }: ReadResults,
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
    if (exchange.response.headersSent) exchange.response.destroy()
    else if (error instanceof ResultsMemoryFull) sendError(exchange, BUSY)
    else sendError(exchange, isOfStore ? NO_STORE : downloadError(error, subject))
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
  const read = { caller, subject: idOfBatch(stored), lines }
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
    return isComplete || isBilled ? { model, isBilled } : null
  }
  const { response } = exchange
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, [...headersOf(exchange), 'Content-Type', type])
  }
  const source = { keys, keyRef: record.place?.keyRef ?? '', path, headers }
  const results = renderedResults(resultLines(deps, source, memory, download.signal), {
    answerPath,
    render: (line) => render(line, lineOf, confidential),
    rulesOfLong: (outline) => rulesOfLong(outline, lineOf),
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

import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { BatchRecord } from '#domain/batches/decide.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import type { AttemptEnd } from '../pipeline/upstream-attempt.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { mayBeOfOtherAccount, sendWithKeys } from '../views/keys-that-may-own-submitted-work.ts'
import {
  ANTHROPIC_BATCHES,
  batchOfId,
  publicIdOf,
  renderBatch,
  renderResult,
} from './anthropic-batches.ts'
import type { PageOfBatches, StoredBatch } from './batch-store.ts'
import { resultLines } from './download-batch-results.ts'
import {
  type GeminiBatchRequest,
  geminiBatchOf,
  geminiIdOf,
  renderGeminiBatch,
} from './gemini-batches.ts'
import {
  type OpenAiBatchRequest,
  openAiBatchOf,
  openAiIdOf,
  renderOpenAiBatch,
} from './openai-batches.ts'
import { lineId } from './plan-batch.ts'
import { type BatchDeps, confidentialAt, keysOf, protocolOf, type Settle } from './settle-batch.ts'

/** The maximum time for which a look-up waits for the bill of a batch that has ended. */
const SETTLED_WITHIN_MS = 3_000
const PAGE_MAX = 1_000
const PAGE_DEFAULT = 20
/** The maximum time in which a caller must have read the results. */
const RESULTS_MS = 3_600_000

/** Finds a batch of the caller's user. A batch of another user counts as missing. */
export async function find(
  { batchStore }: BatchDeps,
  { user: { userId } }: Caller,
  id: string,
): Promise<StoredBatch | null> {
  const ids = { anthropic: batchOfId(id), openai: openAiBatchOf(id), gemini: geminiBatchOf(id) }
  const batch = ids.anthropic ?? ids.openai ?? ids.gemini
  const found = batch === null ? undefined : await batchStore.find(userId, batch)
  return found !== undefined && ids[found.api] === batch ? found : null
}

export const missing = (id: string): RelayError =>
  relayError('batch_not_found', { subject: id.slice(0, 64) })
const unfinished = (id: string): RelayError =>
  relayError('batch_not_ended', { subject: id.slice(0, 64) })

/** The description of a batch that is being submitted, or whose description was lost. */
const UNKNOWN = {
  processing_status: 'in_progress',
  request_counts: { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  ...{ ended_at: null, created_at: null, expires_at: null, archived_at: null },
  cancel_initiated_at: null,
}

/** Renders a batch in the API in which it was submitted. */
export async function rendered(deps: BatchDeps, stored: StoredBatch): Promise<object> {
  const { vault, views } = deps
  const { api, batch, userId, object, isSettled, submittedAt } = stored
  if (api !== 'anthropic') return renderedWithRequest(deps, stored)
  const { serverAddress } = views.options.options.tasks
  const unknown = { ...UNKNOWN, created_at: new Date(submittedAt).toISOString() }
  const text = object === null ? null : await vault.open(userId, object)
  const described = text === null ? unknown : { ...unknown, ...JSON.parse(text) }
  return renderBatch(batch, described, isSettled, serverAddress)
}

async function renderedWithRequest({ vault }: BatchDeps, stored: StoredBatch): Promise<object> {
  const { api, userId, request, object } = stored
  const open = async (sealed: StoredBatch['object']): Promise<unknown> => {
    const text = sealed === null ? null : await vault.open(userId, sealed)
    return text === null ? null : JSON.parse(text)
  }
  const [own, description] = [await open(request), await open(object)]
  const described = description as Readonly<Record<string, unknown>> | null
  return api === 'openai'
    ? renderOpenAiBatch(stored, own as OpenAiBatchRequest | null, described)
    : renderGeminiBatch(stored, own as GeminiBatchRequest | null, described)
}

export async function showBatch(
  deps: BatchDeps,
  settle: Settle,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  await settleSoon(deps, settle, stored)
  await sendCurrent(deps, exchange, caller, id)
}

/**
 * Settles a batch if it has ended. Waits for the end of this work for at most `SETTLED_WITHIN_MS`.
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
 * Sends the current description of a batch, or an error if the batch was deleted in the meantime.
 */
async function sendCurrent(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const current = await find(deps, caller, id)
  if (current === null) return sendError(exchange, missing(id))
  sendJson(exchange, 200, await rendered(deps, current))
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
  const data = await Promise.all(shown.map((stored) => rendered(deps, stored)))
  const [first, last] = [shown[0], shown.at(-1)].map((one) => one && publicIdOf(one.batch))
  sendJson(exchange, 200, {
    data,
    has_more: found.length > page.limit,
    first_id: first ?? null,
    last_id: last ?? null,
  })
}

const OPENAI_PAGE_MAX = 100

/** Lists the batches of OpenAI's API. */
export async function listOpenAiBatches(
  deps: BatchDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const limit = Number(query.get('limit') ?? PAGE_DEFAULT)
  if (!Number.isInteger(limit) || limit < 1 || limit > OPENAI_PAGE_MAX) {
    return sendError(exchange, relayError('invalid_parameter', { param: 'limit' }))
  }
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
    data: await Promise.all(shown.map((stored) => rendered(deps, stored))),
    has_more: found.length > limit,
    first_id: first ?? null,
    last_id: last ?? null,
  })
}

function pageOf({ request: { url = '' } }: Exchange): PageOfBatches | RelayError {
  const query = queryIn(url)
  const limit = Number(query.get('limit') ?? PAGE_DEFAULT)
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    return relayError('invalid_parameter', { param: 'limit' })
  }
  const page: { limit: number; before?: string; after?: string } = { limit }
  for (const [name, key] of [['before_id', 'before'] as const, ['after_id', 'after'] as const]) {
    const id = query.get(name)
    const batch = id === null ? null : batchOfId(id)
    if (id !== null && batch === null) return relayError('invalid_parameter', { param: name })
    if (batch !== null) page[key] = batch
  }
  return page
}

export async function cancelBatch(
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
    const end = await sendAbout(deps, placed, 'POST', '/cancel')
    if (end?.kind !== 'plain') return sendError(exchange, errorAbout(stored, placed, end))
    const { record } = placed
    const confidential = confidentialAt(deps.views, record)
    const description = protocolOf(record).readDescription(end.body, confidential)
    if (description !== null) {
      const { userId } = stored
      const sealed = await deps.vault.seal(userId, JSON.stringify(description.object))
      await deps.batchStore.describe(stored.batch, sealed)
    }
  }
  await sendCurrent(deps, exchange, caller, id)
}

/**
 * Deletes a settled batch. A batch that is not settled can't be deleted, because its bill needs its
 * results.
 */
export async function deleteBatch(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  if (!stored.isSettled) return sendError(exchange, unfinished(id))
  const placed = await placeOfBatch(deps, stored)
  // Nobody can read what the key of a deleted channel has.
  const end = isRelayError(placed) ? null : await sendAbout(deps, placed, 'DELETE', '')
  // What a key of another account denies can't be deleted by anyone, so it is only forgotten here.
  const isGone = end?.kind !== 'failed' || end.status === 404
  if (!isGone && !isRelayError(placed) && !isOfOtherAccount(placed, end)) {
    return sendError(exchange, relayError('upstream_error'))
  }
  await deps.batchStore.remove(stored.batch)
  const deleted = { id: publicIdOf(stored.batch), type: 'message_batch_deleted' }
  sendJson(exchange, 200, stored.api === 'gemini' ? {} : deleted)
}

export type Placed = { readonly record: BatchRecord; readonly keys: readonly RelayKey[] }

/**
 * Returns the channel and the keys to ask about a batch, or the error if no provider can be asked.
 */
export async function placeOfBatch(
  deps: BatchDeps,
  stored: StoredBatch,
): Promise<Placed | RelayError> {
  const record = await deps.ledger.peek(stored.batch)
  const subject = idOf(stored)
  if (record === null || record.place === null) {
    return relayError('batch_not_accepted', { subject, retryAfter: 10 })
  }
  const keys = keysOf(deps, record)
  return keys.length === 0 ? relayError('channel_deleted', { subject }) : { record, keys }
}

/** Returns the id of a batch that callers see. */
const idOf = ({ api, batch }: StoredBatch): string =>
  ({ anthropic: publicIdOf, openai: openAiIdOf, gemini: geminiIdOf })[api](batch)

export function sendAbout(
  { batchOutbound }: BatchDeps,
  { record, keys }: Placed,
  method: 'POST' | 'DELETE',
  action: string,
) {
  const { path: root, headers } = protocolOf(record)
  const path = `${root}/${encodeURIComponent(record.place?.upstreamId ?? '')}${action}`
  const request = { method, path, headers }
  return sendWithKeys(keys, ({ target }) => sendTaskRequest(batchOutbound, target, request))
}

/** Reports whether a key that replaced the batch's own one was denied the batch. */
const isOfOtherAccount = ({ record, keys }: Placed, end: AttemptEnd | null): boolean =>
  end?.kind === 'failed' &&
  mayBeOfOtherAccount(end.status) &&
  keys.every(({ keyRef }) => keyRef !== record.place?.keyRef)

/** Returns the error of a caller whose request about a batch failed at the provider. */
export const errorAbout = (
  stored: StoredBatch,
  placed: Placed,
  end: AttemptEnd | null,
): RelayError =>
  isOfOtherAccount(placed, end)
    ? relayError('key_replaced', { subject: idOf(stored) })
    : relayError('upstream_error')

/** Sends the results of an Anthropic batch to the caller. */
export async function sendResults(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  if (!stored.isSettled) return sendError(exchange, unfinished(id))
  const upstreamId = (await deps.ledger.peek(stored.batch))?.place?.upstreamId ?? ''
  const { path: root, headers } = ANTHROPIC_BATCHES
  const path = `${root}/${encodeURIComponent(upstreamId)}/results`
  const shown = { path, headers, type: 'application/x-jsonl', render: renderResult }
  await sendRenderedLines(deps, exchange, stored, shown)
}

export type ShownResults = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  /** Renders a line. Returns null for a line that the caller must not see. */
  readonly render: (
    line: string,
    modelOf: (customId: string) => string | null,
    confidential: readonly string[],
  ) => string | null
}

/** Sends results to the caller line by line. A caller that reads slowly pauses the download. */
export async function sendRenderedLines(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredBatch,
  { path, headers, type, render }: ShownResults,
): Promise<void> {
  const placed = await placeOfBatch(deps, stored)
  if (isRelayError(placed)) return sendError(exchange, placed)
  const { record, keys } = placed
  const confidential = confidentialAt(deps.views, record)
  const facts = await deps.batchStore.linesOf(stored.batch)
  // A batch that ended without its results may have them later. Only billed lines are shown.
  const isComplete = record.end === null || record.end.cause === 'done'
  const modelOf = (customId: string): string | null => {
    const fact = facts.get(lineId(stored.batch, customId))
    const isShown = fact !== undefined && (isComplete || record.billed.has(fact.line))
    const part = isShown ? fact.part : undefined
    return part === undefined ? null : (record.submitted.parts[part]?.model ?? null)
  }
  const { response } = exchange
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(RESULTS_MS)])
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, [...headersOf(exchange), 'Content-Type', type])
  }
  try {
    const lines = resultLines(deps, { keys, path, headers }, signal)
    for await (const line of lines) {
      if (line === null) continue
      const text = render(line.toString('utf8'), modelOf, confidential)
      if (text === null) continue
      begin()
      if (!response.write(`${text}\n`)) await once(response as never, 'drain', { signal })
    }
    begin()
    response.end()
  } catch {
    if (response.headersSent) response.destroy()
    else sendError(exchange, relayError('upstream_unreachable'))
  }
}

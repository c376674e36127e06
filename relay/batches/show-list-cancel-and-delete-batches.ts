import { setTimeout as delay } from 'node:timers/promises'
import type { BatchRecord } from '#domain/batches/decide.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { type Exchange, queryIn, sendError, sendJson } from '../pipeline/http-exchange.ts'
import { limitIn } from '../pipeline/read-page-limit.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { mayBeOfOtherAccount, sendWithKeys } from '../views/submission-checks-and-key-retries.ts'
import { batchOfId, publicIdOf } from './anthropic-batches.ts'
import { confidentialAt, keysOf, protocolOf } from './ask-provider-about-batch.ts'
import { pathOfBatch } from './batch-protocol.ts'
import type { PageOfBatches, StoredBatch } from './batch-store.ts'
import { geminiBatchOf, geminiIdOf } from './gemini-batches.ts'
import { openAiBatchOf, openAiIdOf } from './openai-batches.ts'
import { renderStoredBatch } from './render-batch.ts'
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
export const unfinished = (stored: StoredBatch): RelayError =>
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

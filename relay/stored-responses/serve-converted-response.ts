import {
  type JsonObject,
  listOf,
  objectOrEmpty,
  objectsOf,
  textOf,
} from '../canonical/json-values.ts'
import {
  invalidParameter,
  isRelayError,
  type RelayError,
  relayError,
} from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { limitIn } from '../pipeline/read-page-limit.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { NO_STORE } from './find-channel-and-key-of-stored-input.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import { contentOwnerOf } from './response-content-store.ts'
import { openCompressed } from './seal-compressed-text.ts'

/** A request about one stored response. `part` is the segment of the path behind the id. */
export type StoredResponseRequest = {
  readonly method: 'GET' | 'DELETE' | 'POST'
  readonly id: string
  readonly part: 'input_items' | 'cancel' | null
  readonly query: URLSearchParams
}

/**
 * Answers a request about a response that the gateway stores. Returns the JSON for the caller, or
 * an error. Returns null if the gateway stores no response with this id for this token.
 */
export async function serveConvertedResponse(
  deps: RelayDeps,
  caller: Caller,
  request: StoredResponseRequest,
): Promise<Buffer | RelayError | null> {
  const { method, id, part } = request
  if (convertedResponseIdIn(id) !== id) return null
  const { contents } = deps.storedResponses
  const owner = contentOwnerOf(caller)
  if (method === 'DELETE') {
    const isRemoved = await contents.remove(owner.tokenId, id).catch(() => null)
    if (isRemoved === null) return NO_STORE
    return isRemoved ? bytesOf({ id, object: 'response', deleted: true }) : null
  }
  if (part === 'input_items') return inputItems(deps, caller, request)
  const content = await contents.loadResponse(owner, id).catch(() => NO_STORE)
  if (content === null || isRelayError(content)) return content
  // A converted response is never created in the background.
  if (part === 'cancel') return relayError('response_not_cancellable', { subject: id })
  const response = await openCompressed(deps.vault, owner.userId, content.response)
  const output = await openCompressed(deps.vault, owner.userId, content.output)
  if (response === null || output === null) return null
  return bytesOf({ ...JSON.parse(response), output: JSON.parse(output) })
}

const bytesOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))

async function inputItems(
  { storedResponses: { contents }, vault }: RelayDeps,
  caller: Caller,
  { id, query }: StoredResponseRequest,
): Promise<Buffer | RelayError | null> {
  const owner = contentOwnerOf(caller)
  const loaded = await contents.load(owner, [id], id).catch(() => NO_STORE)
  if (isRelayError(loaded)) return loaded
  const [content] = loaded
  if (content === undefined) return null
  const { input } = content
  const text = input === null ? null : await openCompressed(vault, owner.userId, input)
  if (text === null) return relayError('input_items_not_stored', { subject: id })
  const page = pageOfItems(objectsOf(JSON.parse(text)), id, query)
  return isRelayError(page) ? page : bytesOf(page)
}

const ITEMS_DEFAULT = 20
const ITEMS_MAX = 100

/** Returns a page of the items of an input, as OpenAI's API does: by default, the last is first. */
function pageOfItems(
  items: readonly JsonObject[],
  responseId: string,
  query: URLSearchParams,
): JsonObject | RelayError {
  const limit = limitIn(query, { usual: ITEMS_DEFAULT, most: ITEMS_MAX })
  if (typeof limit !== 'number') return limit
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return invalidParameter('order')
  const all = items.map((item, at) => storedItem(item, `in_${responseId.slice(5)}_${at}`))
  if (order === 'desc') all.reverse()
  const after = query.get('after')
  const last = after === null ? -1 : all.findIndex(({ id }) => id === after)
  if (after !== null && last < 0) return invalidParameter('after')
  const data = all.slice(last + 1, last + 1 + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: last + 1 + limit < all.length,
  }
}

/**
 * Returns an item with an id, and a message in its complete form. Callers may send a message
 * without its type, and its content as a text.
 */
function storedItem(item: JsonObject, madeUpId: string): JsonObject {
  const id = textOf(item.id) || madeUpId
  if (item.type !== undefined && item.type !== 'message') return { ...item, id }
  const type = item.role === 'assistant' ? 'output_text' : 'input_text'
  const { content } = item
  const parts = typeof content === 'string' ? [{ type, text: content }] : listOf(content)
  return { ...item, id, type: 'message', status: 'completed', content: parts.map(objectOrEmpty) }
}

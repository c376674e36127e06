import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { TOKENS_MAX } from '../canonical/provider-usage-report.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { eventData } from '../canonical/sse-scanner.ts'
import { STORED_ID } from '../dialects/openai-responses/find-input-items-and-tools.ts'
import type { ChatRequest, StoredInput, StoredReference } from '../dialects/wire-format.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import type { ContentOwner } from './response-content-store.ts'
import type { StoredResponse, StoredResponses } from './stored-response-owners.ts'

/**
 * Resolves a request's references to content that a provider stores. In the returned request, the
 * input bound includes the content's tokens, and `stored` names the channel and the key that
 * created the content. The request may be sent only to this channel with this key. Returns an error
 * if another token created some of the content, or if it was created with several keys. For the id
 * of a converted response, the error says so if the site does not store converted responses.
 */
export async function resolveStoredInput(
  { storedResponses }: { readonly storedResponses: StoredResponses },
  owner: ContentOwner,
  request: ChatRequest,
  storesConvertedResponses = true,
): Promise<ChatRequest | RelayError> {
  const { stored } = request
  if (stored === undefined) return request
  const ids = stored.references.map(({ id }) => id)
  const found = await storedResponses.find(owner, ids).catch(() => NO_STORE)
  if (isRelayError(found)) return found
  const byId = new Map(found.map((one) => [one.id, one]))
  const [origin] = found
  const tokens = new Map<string, number>()
  for (const reference of stored.references) {
    const one = byId.get(reference.id)
    const isSame = one?.channelId === origin?.channelId && one?.keyRef === origin?.keyRef
    if (one === undefined || !isSame) return notFound(reference, storesConvertedResponses)
    tokens.set(one.responseId, Math.max(tokens.get(one.responseId) ?? 0, one.tokens))
  }
  if (origin === undefined) return request
  const sum = [...tokens.values()].reduce((total, one) => total + one, 0)
  const { channelId, keyRef } = origin
  return withStoredInput(request, { ...stored, place: { channelId, keyRef }, tokens: sum })
}

/** The error for a request that needs the store while the database is not available. */
export const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/** Returns the error for a reference to stored content that can't be found. */
export function notFound(
  { id, param }: StoredReference,
  storesConvertedResponses = true,
): RelayError {
  const isUnstored = !storesConvertedResponses && convertedResponseIdIn(id) !== null
  return param === 'previous_response_id'
    ? relayError(isUnstored ? 'previous_response_not_stored' : 'previous_response_not_found', {
        ...{ param, subject: id },
      })
    : relayError(isUnstored ? 'item_not_stored' : 'stored_input', { param })
}

/** Adds the tokens of stored content to the input bound of a request. */
export function withStoredInput(request: ChatRequest, stored: StoredInput): ChatRequest {
  const { tokens, ceiling } = request.inputBound
  const inputBound = {
    tokens: tokens + stored.tokens,
    ceiling: Math.min(TOKENS_MAX, ceiling + 2 * stored.tokens),
    isText: false,
  }
  return { ...request, stored, inputBound }
}

/**
 * The maximum length of a response whose items are read. Parsing a longer one would block the event
 * loop.
 */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024
/** The number of bytes at the start of a longer response that are searched for its id. */
const HEAD_BYTES = 1_024
/**
 * Matches the id at the start of a response, before any member that a caller can write, such as
 * `metadata`.
 */
const ID_OF_RESPONSE = /^\s*\{\s*"id"\s*:\s*"([\w.:-]{1,128})"/
/** Matches the members of an event that precede its response. */
const EVENT_START = /^\s*\{\s*(?:"(?:type|sequence_number)"\s*:\s*[\w."]+\s*,\s*)*"response"\s*:/

type Identity = Pick<StoredResponse, 'responseId' | 'itemIds'>

/**
 * Returns the ids of a complete response and of its items. For a very long response, returns only
 * its own id. Returns null for any other answer.
 */
export const idsInResponse = (body: Buffer): Identity | null =>
  body.length > RESPONSE_BYTES_MAX ? ownIdIn(headOf(body)) : idsInJson(body.toString('utf8'))

const headOf = (body: Buffer): string => body.toString('utf8', 0, HEAD_BYTES)

function ownIdIn(start: string): Identity | null {
  const responseId = ID_OF_RESPONSE.exec(start)?.[1]
  return responseId === undefined ? null : { responseId, itemIds: [] }
}

function idsInJson(json: string): Identity | null {
  const event = parsedObject(json)
  const response = objectOf(event?.response) ?? event
  const { id, output } = response ?? {}
  if (typeof id !== 'string' || !STORED_ID.test(id)) return null
  const items = Array.isArray(output) ? output : []
  const itemIds = items.flatMap((item) => {
    const itemId = objectOf(item)?.id
    return typeof itemId === 'string' && STORED_ID.test(itemId) ? [itemId] : []
  })
  return { responseId: id, itemIds }
}

/** Returns the ids in the last event of a stream, as `idsInResponse` does. */
export function idsInEvent(event: Buffer): Identity | null {
  if (event.length > RESPONSE_BYTES_MAX) {
    const responseId = idInStartOfEvent(event)
    return responseId === null ? null : { responseId, itemIds: [] }
  }
  const data = eventData(event)
  return data === null ? null : idsInJson(data)
}

/**
 * Returns the id of the response in an event, which is read from its first bytes. Returns null if
 * there is none.
 */
export function idInStartOfEvent(event: Buffer): string | null {
  const data = eventData(headOf(event)) ?? ''
  const [before] = EVENT_START.exec(data) ?? []
  return before === undefined ? null : (ownIdIn(data.slice(before.length))?.responseId ?? null)
}

/** Reports whether the provider stores the answer to a request, which is the default. */
export const isStored = ({ format, members }: ChatRequest): boolean =>
  format.name === 'responses' &&
  !format.isCompaction &&
  !members.some(({ key, kind }) => key === 'store' && kind === 'false')

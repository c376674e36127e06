import { TOKENS_MAX } from '../canonical/provider-usage-report.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, StoredInput, StoredReference } from '../dialects/wire-format.ts'
import { convertedResponseIdIn } from './recognize-converted-response-id.ts'
import type { ContentOwner } from './response-content-store.ts'
import type { StoredResponses } from './stored-response-owners.ts'

/**
 * Finds the origin of the stored content to which a request refers: the channel and the key with
 * which a provider created the content. A request without such references is returned unchanged. In
 * the returned request, `stored` names this channel and key, and the input bound includes the
 * content's tokens. The request may be sent only to this channel with this key. Returns an error if
 * some of the content is not found for the token of the request, or if the content was created with
 * several keys. If an id belongs to a converted response and the site does not store converted
 * responses, the error says so.
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

/** Returns the request with this stored input, whose tokens are added to the input bound. */
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
 * Reports whether the provider stores the answer to a request. Only OpenAI's Responses API stores
 * answers, and it does so by default.
 */
export const isStored = ({ format, members }: ChatRequest): boolean =>
  format.name === 'responses' &&
  !format.isCompaction &&
  !members.some(({ key, kind }) => key === 'store' && kind === 'false')

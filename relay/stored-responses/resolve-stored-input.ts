import { TOKENS_MAX } from '../canonical/provider-usage-report.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { eventData } from '../canonical/sse-scanner.ts'
import { recordOf } from '../dialects/openai-chat/usage-in-answer.ts'
import { STORED_ID } from '../dialects/openai-responses/names-of-input-items-and-tools.ts'
import type { ChatRequest, StoredInput } from '../dialects/wire-format.ts'
import type { StoredResponse, StoredResponses } from './stored-response-owners.ts'

/**
 * Finds the stored content to which a request refers. The request then may go only to the key that
 * made it, and its input bound includes the tokens of the content. Returns an error if the token of
 * the call did not make all of it, or not with the same key.
 */
export async function resolveStoredInput(
  { storedResponses }: { readonly storedResponses: StoredResponses },
  tokenId: number,
  request: ChatRequest,
): Promise<ChatRequest | RelayError> {
  const { stored } = request
  if (stored === undefined) return request
  const ids = stored.references.map(({ id }) => id)
  const found = await storedResponses.find(tokenId, ids).catch(() => NO_STORE)
  if (isRelayError(found)) return found
  const byId = new Map(found.map((one) => [one.id, one]))
  const [place] = found
  const tokens = new Map<string, number>()
  for (const reference of stored.references) {
    const one = byId.get(reference.id)
    const isSame = one?.channelId === place?.channelId && one?.keyRef === place?.keyRef
    if (one === undefined || !isSame) return notFound(reference)
    tokens.set(one.responseId, Math.max(tokens.get(one.responseId) ?? 0, one.tokens))
  }
  if (place === undefined) return request
  const sum = [...tokens.values()].reduce((total, one) => total + one, 0)
  const { channelId, keyRef } = place
  return withStoredInput(request, { ...stored, place: { channelId, keyRef }, tokens: sum })
}

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/** Returns the error for content that can't be found. */
export const notFound = ({ id, param }: StoredInput['references'][number]): RelayError =>
  param === 'previous_response_id'
    ? relayError('previous_response_not_found', { param, subject: id })
    : relayError('stored_input', { param })

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

/** The ids in a longer response are not read, because parsing it would block the event loop. */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024

type Identity = Pick<StoredResponse, 'responseId' | 'itemIds'>

/** Returns the ids in a complete response; null for another answer, and for a very long one. */
export const idsInResponse = (body: Buffer): Identity | null =>
  body.length > RESPONSE_BYTES_MAX ? null : idsInJson(body.toString('utf8'))

function idsInJson(json: string): Identity | null {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return null
  }
  const event = recordOf(value)
  const response = recordOf(event?.response) ?? event
  const { id, output } = response ?? {}
  if (typeof id !== 'string' || !STORED_ID.test(id)) return null
  const items = Array.isArray(output) ? output : []
  const itemIds = items.flatMap((item) => {
    const itemId = recordOf(item)?.id
    return typeof itemId === 'string' && STORED_ID.test(itemId) ? [itemId] : []
  })
  return { responseId: id, itemIds }
}

/** Returns the ids in the last event of a stream. */
export const idsInEvent = (event: Buffer): Identity | null => {
  const data = eventData(event)
  return data === null ? null : idsInJson(data)
}

/** Reports whether the provider stores the answer to a request, which is the default. */
export const isStored = ({ format, members }: ChatRequest): boolean =>
  format.name === 'responses' &&
  !format.isCompaction &&
  !members.some(({ key, kind }) => key === 'store' && kind === 'false')

import { EVENT_BYTES_MAX } from '../canonical/sse-scanner.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { AttemptEnd } from './attempt-end-types.ts'

/** The largest growth of a text that a provider repeats: a control character as `\u00XX`. */
const ESCAPE_FACTOR = 6

/**
 * Marks the end of an attempt whose answer was too large because it repeats the caller's request.
 * The call is not retried: any other provider would answer the same, and the provider charges for
 * the request. Answers repeat all members except `input`. In a stream, only the first event can be
 * meant. If a later event is too large, the attempt does not fail but is cut off.
 */
export function markAnswerThatRepeatsRequest(
  end: AttemptEnd,
  { format, members }: Pick<ChatRequest, 'format' | 'members'>,
  sent: Buffer,
): AttemptEnd {
  if (end.kind !== 'failed' || end.error !== 'too-large') return end
  const { repeatsRequest, eventBytesMax = EVENT_BYTES_MAX } = format.stream
  const input = members.find(({ key }) => key === 'input')
  const repeated = sent.length - (input === undefined ? 0 : input.valueEnd - input.valueStart)
  const canBe = repeatsRequest === true && repeated * ESCAPE_FACTOR > eventBytesMax
  return canBe ? { ...end, isEchoOfRequest: true } : end
}

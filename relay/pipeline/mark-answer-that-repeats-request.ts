import { EVENT_BYTES_MAX } from '../canonical/sse-scanner.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { AttemptEnd } from './attempt-end-types.ts'

/** The largest factor by which a repeated text grows: a control character becomes `\u00XX`. */
const ESCAPE_FACTOR = 6

/**
 * Returns the end of an attempt, marked with `isEchoOfRequest` if the answer may have been too
 * large because it repeats the caller's request. A call with this mark is not retried: any other
 * provider would repeat the request as well and charge for it. Answers repeat all members of the
 * request except `input`. Of a stream, only the first event can make the attempt fail in this way.
 * If a later event is too large, the stream is cut off, and its attempt does not count as failed.
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

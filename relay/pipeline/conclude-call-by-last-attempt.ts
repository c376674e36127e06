import type { AnswerError } from '../canonical/canonical-answer.ts'
import {
  type JsonObject,
  objectOrEmpty,
  parsedObject,
  scalarText,
  textOf,
  textOrEmpty,
} from '../canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { isTooLargeByRequest } from '../channel-health/attempt-outcome.ts'
import { CONVERTED_BYTES_MAX } from '../conversion/convert-call.ts'
import { withShownModel } from '../dialects/model-name-in-answer.ts'
import type { AnswerScreen } from '../screening/word-screening.ts'
import type { AttemptEnd, AttemptError } from './attempt-end-types.ts'
import {
  type ClosingContext,
  concludeAbandoned,
  concludeFailedCall,
  concludePlain,
  concludeStream,
  concludeWithheld,
} from './conclude-answered-and-failed-calls.ts'
import { confidentialOf } from './failed-call-answer.ts'
import { type Exchange, setNameListHeader } from './http-exchange.ts'
import { inlineImages } from './inline-image-urls-in-answer.ts'
import { logUnreadableAnswer, readTextsOf } from './log-unreadable-answer.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { lossesOf } from './recorded-request-changes.ts'
import type { RunningCall } from './running-call.ts'
import type { LastAttempt } from './try-channels-in-order.ts'

const MIB = 1024 * 1024
const WITHHELD = relayError('sensitive_answer')
/** The failure of an attempt whose plain answer is not JSON and contains no usage. */
const NO_JSON = {
  kind: 'failed',
  error: 'format',
  body: Buffer.alloc(0),
  retryAfterMs: 0,
} as const

/**
 * Ends a call according to its last attempt: settles or releases the call's hold, and sends the
 * rest of the answer or an error. Resolves to true if the caller was sent the complete answer.
 * `last` is null if no channel was tried.
 */
export function concludeCall(
  closing: ClosingContext,
  screen: AnswerScreen | null,
  last: LastAttempt | null,
): Promise<boolean> {
  if (last === null) return concludeFailedCall(closing, null, null)
  const { candidate, end } = last
  if (end.kind === 'plain') {
    const { hasTextlessAnswers, errorWithoutResult } = candidate.request.format
    const missing = errorWithoutResult?.(end.body) ?? null
    if (missing !== null) {
      return concludeWithheld(closing, candidate, end.body, relayError(missing))
    }
    const isScreened = screen !== null && hasTextlessAnswers !== true
    if (isScreened && !screen.isCleanAnswer(end.body, readTextsOf(candidate))) {
      return concludeWithheld(closing, candidate, end.body, WITHHELD)
    }
    const visible = visibleAnswer(closing, candidate, end.body)
    if (visible === null) {
      const error = unconvertedAnswerError(candidate, end.body)
      return error === null
        ? concludeFailedCall(closing, candidate, { ...end, ...NO_JSON })
        : concludeWithheld(closing, candidate, end.body, error)
    }
    if (candidate.expectsImageData === true && Buffer.isBuffer(visible)) {
      return concludeImages(closing, candidate, end.body, visible)
    }
    return concludePlain(closing, candidate, end.body, visible)
  }
  if (end.kind === 'streamed') return concludeStream(closing, candidate, end)
  if (isCharged(closing.call, end)) return concludeAbandoned(closing, candidate, end)
  return concludeFailedCall(closing, candidate, end)
}

/**
 * Returns a plain answer as the caller receives it: in the caller's format and with the caller's
 * name for the model. Returns null for an answer that can't be converted or changed, and an error
 * if the model failed. An exception would end the call without a charge. For example, an answer may
 * be nested too deeply to be serialized again, and a caller can ask a model for such an answer.
 */
function visibleAnswer(
  { exchange }: Pick<ClosingContext, 'exchange'>,
  candidate: Candidate,
  body: Buffer,
): Buffer | AnswerError | null {
  try {
    return adaptedAnswer(exchange, candidate, body)
  } catch (err) {
    logUnreadableAnswer(exchange, candidate.channel.channelId, err)
    return null
  }
}

function adaptedAnswer(
  exchange: Exchange,
  candidate: Candidate,
  body: Buffer,
): Buffer | AnswerError | null {
  const { conversion, upstreamModel, request } = candidate
  const failure = request.format.errorOfFailedAnswer?.(body) ?? null
  if (failure !== null) return answerErrorIn(failure)
  if (conversion !== null) {
    const converted = conversion.convertAnswer(body, exchange.call)
    setNameListHeader(exchange, 'X-Conversion-Loss', lossesOf(candidate))
    return converted
  }
  const { redactedAnswer, adaptAnswer } = request.format
  const adapted = adaptAnswer?.(request, body) ?? body
  const redacted = redactedAnswer?.(adapted, confidentialOf(candidate)) ?? adapted
  return upstreamModel === null ? redacted : withShownModel(request.format, redacted, request.model)
}

/** Reads the error in the body of an error response. */
function answerErrorIn({ error }: JsonObject): AnswerError {
  const { type, code, message } = objectOrEmpty(error)
  const name = textOf(type) || scalarText(code) || 'upstream_error'
  return { type: name, message: textOf(error) ?? textOrEmpty(message) }
}

/**
 * Returns the error for an answer that is too large or too deeply nested to be converted. Returns
 * null for a body that is neither JSON nor contains a usage. Such a body is not an answer and costs
 * nothing.
 */
function unconvertedAnswerError(
  { request: { format } }: Candidate,
  body: Buffer,
): RelayError | null {
  if (body.length > CONVERTED_BYTES_MAX) {
    return relayError('upstream_too_large', { subject: `${CONVERTED_BYTES_MAX / MIB}` })
  }
  const usage = format.usageInAnswer(body) ?? parsedObject(body)
  return usage === null ? null : relayError('upstream_format')
}

async function concludeImages(
  closing: ClosingContext,
  candidate: Candidate,
  body: Buffer,
  visibleBody: Buffer,
): Promise<boolean> {
  const inlined = await inlineImages(closing, candidate, visibleBody)
  return concludePlain(closing, inlined.candidate, body, inlined.body)
}

/** The errors of attempts that the gateway ended although the provider worked on the answer. */
const STOPPED: ReadonlySet<AttemptError> = new Set([
  ...(['caller-gone', 'revoked', 'balance-spent', 'screened', 'over-limit'] as const),
])
/**
 * The errors of attempts that a provider refused or answered without a result, or whose provider
 * could not be reached.
 */
const REFUSED: ReadonlySet<AttemptError> = new Set([
  ...(['status', 'error-event', 'format', 'no-image', 'no-result', 'blocked', 'connect'] as const),
])

/**
 * Reports whether a failed attempt is charged. It is charged if the caller disconnected, lost
 * access or ran out of quota after the provider received the request, because disconnecting would
 * otherwise be cheaper than waiting for the answer. It is also charged if the request makes the
 * answer too large, if a stream begins with a screened word or ignores its output limit, or if it
 * stalls after it has begun. The provider charges for such attempts, and a caller can provoke them.
 * For example, a model may think about a question for so long that its stream stalls. A stream that
 * has reported its usage is charged as well. An attempt that the provider refused or answered
 * without a result (see `REFUSED`) is never charged.
 */
function isCharged(
  { readsForUsageOnly }: RunningCall,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
): boolean {
  if (end.isDispatched !== true) return false
  return (
    isTooLargeByRequest(end) ||
    STOPPED.has(end.error) ||
    (end.error === 'timeout' && end.hasBegun === true) ||
    (end.error === 'cut' && end.hasReportedUsage === true) ||
    (readsForUsageOnly && !REFUSED.has(end.error))
  )
}

import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, WireFormat } from '../dialects/wire-format.ts'
import { answerError } from './failed-call-answer.ts'
import { type Exchange, headersOf } from './http-exchange.ts'
import { logUnreadableAnswer } from './log-unreadable-answer.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { endStream, SINGLE_WRITE_BYTES_MAX } from './write-streamed-response.ts'

type AnsweredCall = {
  readonly exchange: Exchange
  readonly request: ChatRequest
  /** The caller's format. */
  readonly format: WireFormat
}

/** The error for an answer that is nested too deeply to be sent as a stream. */
export const UNREADABLE = relayError('upstream_format')

export const isAnswered = ({ response }: Exchange): boolean =>
  response.destroyed || response.writableEnded

/**
 * Reports whether a plain answer is sent as a stream. The response may have begun as a stream with
 * ping comments, it must be an array, or it is sent over a websocket.
 */
export function isSentAsStream({ exchange, format, request }: AnsweredCall): boolean {
  const mustStream = request.isStream && format.stream.streamsPlainAnswers === true
  const { headersSent, sendsOnlyEvents } = exchange.response
  return mustStream || headersSent || sendsOnlyEvents === true || exchange.jsonArray !== null
}

/**
 * Renders a plain answer as a stream. Returns an error if the answer is nested too deeply to be
 * serialized again.
 */
export function streamOf(
  { exchange, format }: AnsweredCall,
  { channel }: Candidate,
  visible: Buffer,
): string | RelayError {
  try {
    return format.streamOfAnswer(visible)
  } catch (err) {
    logUnreadableAnswer(exchange, channel.channelId, err)
    return UNREADABLE
  }
}

/** Sends a plain answer. `events` is the answer as a stream, or null if it was not rendered yet. */
export function sendPlain(
  answered: AnsweredCall,
  candidate: Candidate,
  visibleBody: Buffer,
  events: string | RelayError | null,
): void {
  const { exchange, format } = answered
  const { response } = exchange
  if (isAnswered(exchange)) return
  if (isSentAsStream(answered)) {
    const rendered = events ?? streamOf(answered, candidate, visibleBody)
    if (typeof rendered !== 'string') answerError(exchange, rendered)
    else endStream(exchange, rendered)
    return
  }
  response.writeHead(200, [
    ...headersOf(exchange),
    'Content-Type',
    format.answerType?.(visibleBody) ?? 'application/json',
    'Content-Length',
    `${visibleBody.length}`,
  ])
  // Node sends the headers and a string body in one write. Latin-1 keeps every byte.
  if (visibleBody.length <= SINGLE_WRITE_BYTES_MAX)
    response.end(visibleBody.toString('latin1'), 'latin1')
  else response.end(visibleBody)
}

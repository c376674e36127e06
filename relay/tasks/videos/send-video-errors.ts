import {
  type EndAnswer,
  type Exchange,
  headersOfError,
  sendError,
  sendJson,
  traceError,
} from '#relay/pipeline/http-exchange.ts'
import type { RelayError } from '../../canonical/relay-error.ts'
import { googleStatusOf } from '../../dialects/gemini/error-format.ts'
import { errorBody } from '../../dialects/openai-chat/error-format.ts'
import { type VideoStyle, videoStyleOf } from './video-routes.ts'

/** Reports whether errors in this format consist of a code and a message. */
const hasCodes = (style: VideoStyle): boolean => style === 'kling' || style === 'jimeng'

/**
 * Sends an error of the gateway in the format of the caller's request. `end` writes the body and
 * ends the response.
 */
export function sendVideoError(exchange: Exchange, error: RelayError, end?: EndAnswer): void {
  if (!hasCodes(videoStyleOf(exchange.request.url ?? ''))) return sendError(exchange, error, end)
  const { status, body } = errorBody(error, exchange.language)
  const answer = { code: status, message: body.error.message, request_id: exchange.call, ...body }
  traceError(exchange, error, status)
  sendJson(exchange, status, answer, headersOfError(error), end)
}

/**
 * Sends a vendor's error message to the caller. The status 429 means that a limit is reached. Other
 * statuses than 400 and 429 come from the channel's mapping.
 */
export function sendVendorError(
  exchange: Exchange,
  words: string,
  code: number,
  headers: readonly string[],
): void {
  const style = videoStyleOf(exchange.request.url ?? '')
  if (hasCodes(style)) {
    const answer = { code, message: words, request_id: exchange.call }
    return sendJson(exchange, code, answer, headers)
  }
  const type = code === 429 ? 'rate_limit_error' : 'invalid_request_error'
  const error =
    style === 'gemini'
      ? { code, message: words, status: googleStatusOf(code) }
      : { message: words, type, param: null, code: 'task_refused' }
  sendJson(exchange, code, { error }, headers)
}

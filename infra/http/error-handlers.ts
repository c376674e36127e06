import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { StoreUnavailable } from '../event-store/port.ts'
import { ShortLivedUnavailable } from '../limits/short-lived-values.ts'
import { isDatabaseAway } from '../postgres/query-timeouts.ts'
import { warnThrottled } from '../telemetry/log.ts'
import { VaultBusy } from '../vault/port.ts'
import { HttpError, type HttpErrorCode, httpError } from './http-error-class-and-catalogue.ts'
import { sendError } from './response-envelope.ts'
import { addSecurityHeaders } from './security-headers.ts'

const BY_CODE: Readonly<Record<string, HttpErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'TooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'WrongContentType',
  FST_ERR_CTP_INVALID_TYPE: 'WrongContentType',
  FST_ERR_BAD_URL: 'InvalidAddress',
  FST_ERR_MAX_PARAM_LENGTH: 'InvalidAddress',
}

const BUSY = [VaultBusy, StoreUnavailable, ShortLivedUnavailable] as const
const RETRY_AFTER_SECONDS = 1
const REBUILD_RETRY_SECONDS = 10

/**
 * Installs handlers that send every error in the API's error envelope. The reason of an internal
 * error is only logged.
 */
export function addErrorAnswers(
  app: FastifyInstance,
  areReadModelsOther = async (): Promise<boolean> => false,
): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const answer = httpErrorFor(error)
    if (answer.status === 500 && (await areReadModelsOther())) {
      const fields = { reason: error.message, stack: error.stack }
      warnThrottled(app.log, fields, 'a request failed while read models are of another release')
      return sendError(reply, httpError('Rebuilding', {}, REBUILD_RETRY_SECONDS))
    }
    if (answer.status === 500) {
      // NOTE: a database error contains the values of its statement, so the error object is not
      // logged.
      const { name, message, stack } = error
      request.log.error({ name, reason: message, stack }, 'a request failed')
    }
    // NOTE: by default Fastify closes the connection when it refuses a body. A client that is still
    // sending would get a reset and never receive the response.
    if (answer.code === 'TooLarge') reply.removeHeader('connection')
    return sendError(reply, answer)
  })
  app.setNotFoundHandler((_request, reply) => sendError(reply, httpError('NoSuchRoute')))
}

function httpErrorFor(error: FastifyError): HttpError {
  if (error instanceof HttpError) return error
  const isBusy = BUSY.some((kind) => error instanceof kind)
  if (isBusy || isDatabaseAway(error)) {
    return httpError('Unavailable', {}, RETRY_AFTER_SECONDS)
  }
  const code = BY_CODE[error.code]
  if (code !== undefined) return httpError(code)
  const { statusCode = 500 } = error
  return httpError(statusCode >= 400 && statusCode < 500 ? 'InvalidRequest' : 'Internal')
}

/** Sends the errors that the router raises before it selects a route and its hooks. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.header('x-request-id', request.id)
  addSecurityHeaders(request, reply)
  // No hook runs for this error, so the connection of a refused upgrade must be closed here.
  // Otherwise, the client could keep this connection open indefinitely.
  if (request.headers.upgrade !== undefined) {
    reply.raw.once('finish', () => request.raw.socket.destroySoon())
  }
  sendError(reply, httpErrorFor(error))
}

const BY_CLIENT_ERROR: Readonly<Record<string, readonly [line: string, HttpErrorCode]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'TooLarge'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'Timeout'],
}

/** Sends the API's error envelope in response to bytes that are not a valid HTTP request. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const [line, code] = BY_CLIENT_ERROR[error.code ?? ''] ?? ['400 Bad Request', 'InvalidRequest']
  const body = JSON.stringify({
    success: false,
    message: httpError(code).translatedMessage.zh,
    code,
    data: null,
  })
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

import type { FastifyReply } from 'fastify'
import type { HttpError } from './http-error-class-and-catalogue.ts'
import { languageOf } from './request-language.ts'

type Success<T> = {
  readonly success: true
  readonly message: string
  readonly data: T
}

export const success = <T>(data: T, message = ''): Success<T> => ({ success: true, message, data })

export const done = (message = ''): Success<null> => success(null, message)

/**
 * Sends an error in the API's error envelope. The error bypasses the route's response schema, which
 * only describes successful responses.
 */
export function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  const { status, code, translatedMessage: message, retryAfter } = error
  const language = languageOf(reply.request)
  const field =
    'field' in message
      ? { invalid_field: { name: message.field, problem: message.problem[language] } }
      : {}
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => payload as string)
    .send(
      JSON.stringify({ success: false, message: message[language], code, data: null, ...field }),
    )
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HttpError, invalidField } from './http-errors.ts'
import { languageOf } from './request-language.ts'

type Success<T> = {
  readonly success: true
  readonly message: string
  readonly data: T
}

export const success = <T>(data: T, message = ''): Success<T> => ({ success: true, message, data })

export const done = (message = ''): Success<null> => success(null, message)

/** Bypasses the route's response schema, which only describes successful responses. */
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

/**
 * Returns the event position that a read must include, from `X-After-Position`; null if absent.
 * Throws a 400 if the value is not a whole number.
 */
export function afterPosition(request: FastifyRequest): number | null {
  const text = request.headers['x-after-position']
  if (text === undefined) return null
  const position = Number(text)
  if (typeof text !== 'string' || !/^\d{1,16}$/.test(text) || !Number.isSafeInteger(position)) {
    throw invalidField('X-After-Position', { zh: '必须是非负整数', en: 'must be a whole number' })
  }
  return position
}

const waiting = new WeakSet<object>()

/**
 * Marks a check that waits for `X-After-Position`, so that the OpenAPI description lists this
 * header.
 */
export function waitsForPosition<T extends object>(check: T): T {
  waiting.add(check)
  return check
}

export const readsAfterPosition = (check: unknown): boolean =>
  typeof check === 'function' && waiting.has(check)

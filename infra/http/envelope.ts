import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { HttpRefusal } from './http-refusal.ts'
import { languageOf } from './language.ts'

export type Success<T> = {
  readonly success: true
  readonly message: string
  readonly data: T
}

/** The answer of a call that succeeded. */
export const success = <T>(data: T, message = ''): Success<T> => ({ success: true, message, data })

/** Response schema of a call that says nothing but its success. */
export const Done = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Null(),
})

export const done = (message = ''): Success<null> => success(null, message)

/** Answers a refusal in the envelope, past the route's response schema, which is for successes. */
export function sendRefusal(reply: FastifyReply, refusal: HttpRefusal): FastifyReply {
  const message = refusal.words[languageOf(reply.request)]
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .type('application/json; charset=utf-8')
    .serializer((payload: unknown) => payload as string)
    .send(JSON.stringify({ success: false, message, code: refusal.code, data: null }))
}

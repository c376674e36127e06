import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const Subscribe = Type.Object({
  type: Type.Literal('subscribe'),
  topics: Type.Array(Type.Union([Type.Literal('logs'), Type.Literal('channels')]), {
    minItems: 1,
    maxItems: 8,
  }),
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})
const Ping = Type.Object({ type: Type.Literal('ping') })
const Request = Type.Union([Subscribe, Ping])

const request = Compile(Request)

/** A client's message; null when it is none that we know. */
export function readRequest(text: string): Static<typeof Request> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return request.Check(parsed) ? parsed : null
  } catch {
    return null
  }
}

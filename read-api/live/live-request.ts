import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { LIVE_TOPICS, type LiveRequest } from '../contract/live.ts'

const Subscribe = Type.Object({
  type: Type.Literal('subscribe'),
  topics: Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 8 }),
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})
const Ping = Type.Object({ type: Type.Literal('ping') })

const request = Compile(Type.Union([Subscribe, Ping]))

/**
 * A client's message; null when it is none that we know. Topics of another release are cut, so
 * that a client may ask for all that it knows; none left is no message.
 */
export function readRequest(text: string): LiveRequest | null {
  try {
    const parsed: unknown = JSON.parse(text)
    if (!request.Check(parsed)) return null
    if (parsed.type === 'ping') return parsed
    const topics = LIVE_TOPICS.filter((topic) => parsed.topics.includes(topic))
    return topics.length === 0 ? null : { ...parsed, topics }
  } catch {
    return null
  }
}

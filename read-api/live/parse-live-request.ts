import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { schemaError } from '#infra/http/schema-error.ts'
import { LIVE_TOPICS, type LiveRequest } from '../contract/live-messages.ts'

const Message = Type.Object({ type: Type.Union([Type.Literal('subscribe'), Type.Literal('ping')]) })
const Subscribe = Type.Object({
  topics: Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 8 }),
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})

const isMessage = validatorOf(Message)
const isSubscription = validatorOf(Subscribe)

const INVALID_JSON = { zh: '不是合法的 JSON', en: 'is not valid JSON' }
const TOPIC_REQUIRED = {
  zh: `必须包含以下之一：${LIVE_TOPICS.join(', ')}`,
  en: `must contain at least one of ${LIVE_TOPICS.join(', ')}`,
}

/**
 * Parses a message from a client. Throws an `HttpError` if the message is invalid, or if a
 * subscription has no known topic. Unknown topics in addition to known topics are ignored, because
 * the client may belong to another release.
 */
export function readRequest(text: string): LiveRequest {
  const value = parseJson(text)
  const { type } = isMessage(value)
  if (type === 'ping') return { type }
  const { topics: requested, ...rest } = isSubscription(value)
  const topics = LIVE_TOPICS.filter((topic) => requested.includes(topic))
  if (topics.length === 0) throw invalidField('topics', TOPIC_REQUIRED)
  return { type, topics, ...(rest.after === undefined ? {} : { after: rest.after }) }
}

function validatorOf<T extends TSchema>(schema: T) {
  const validator = Compile(schema)
  return (value: unknown): Type.Static<T> => {
    if (validator.Check(value)) return value
    throw schemaError(validator.Errors(value), 'message')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidField('message', INVALID_JSON)
  }
}

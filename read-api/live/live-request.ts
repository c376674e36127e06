import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidField } from '#infra/http/http-errors.ts'
import { schemaError } from '#infra/http/schema-error.ts'
import { LIVE_TOPICS, type LiveRequest } from '../contract/live.ts'

const Message = Type.Object({ type: Type.Union([Type.Literal('subscribe'), Type.Literal('ping')]) })
const Subscribe = Type.Object({
  topics: Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 8 }),
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
})

const isMessage = checked(Message)
const isSubscription = checked(Subscribe)

const NO_JSON = { zh: '不是合法的 JSON', en: 'is not valid JSON' }
const NO_TOPIC = {
  zh: `必须包含以下之一：${LIVE_TOPICS.join(', ')}`,
  en: `must have one of ${LIVE_TOPICS.join(', ')}`,
}

/**
 * A client's message; throws an `HttpError` that says what is wrong with one that is none.
 * Topics of another release are cut, so that a client may ask for all that it knows; with none
 * left it is refused.
 */
export function readRequest(text: string): LiveRequest {
  const value = parsed(text)
  const { type } = isMessage(value)
  if (type === 'ping') return { type }
  const { topics: asked, ...rest } = isSubscription(value)
  const topics = LIVE_TOPICS.filter((topic) => asked.includes(topic))
  if (topics.length === 0) throw invalidField('topics', NO_TOPIC)
  return { type, topics, ...(rest.after === undefined ? {} : { after: rest.after }) }
}

function checked<T extends TSchema>(schema: T) {
  const validator = Compile(schema)
  return (value: unknown): Type.Static<T> => {
    if (validator.Check(value)) return value
    throw schemaError(validator.Errors(value), 'message')
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidField('message', NO_JSON)
  }
}

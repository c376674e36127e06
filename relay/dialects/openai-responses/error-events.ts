import { randomUUID } from 'node:crypto'
import { redact } from '#relay/canonical/redact-provider-texts.ts'
import { type ErrorBody, OPENAI_ERRORS } from '../openai-chat/error-body.ts'
import { answerCheck, recordOf } from '../openai-chat/usage-in-answer.ts'
import type { ErrorFormat } from '../wire-format.ts'

const FAILED = Buffer.from('"failed"')
const isResponse = answerCheck('output')

/**
 * Checks the body of an answer with status 200. A failed response is an error. If it has a usage,
 * it counts as an answer, because the provider charges for it.
 */
export function errorOfResponse(body: Buffer): 'format' | 'error-event' | null {
  const error = isResponse(body)
  if (error !== null || !body.includes(FAILED)) return error
  const response = parsedResponse(body)
  const isFailed = response?.status === 'failed'
  return isFailed && recordOf(response.usage) === null ? 'error-event' : null
}

/** Removes confidential texts from the error in a failed response. */
export function redactedResponse(body: Buffer, confidential: readonly string[]): Buffer {
  const response = body.includes(FAILED) ? parsedResponse(body) : null
  const error = recordOf(response?.error)
  if (response?.status !== 'failed' || error === null) return body
  const { code, message } = error
  const texts = { code: textOf(code, confidential), message: textOf(message, confidential) }
  return Buffer.from(JSON.stringify({ ...response, error: texts }))
}

const textOf = (value: unknown, confidential: readonly string[]): string | null =>
  typeof value === 'string' ? redact(value, confidential) : null

/** Returns a response, or null for bytes that are no JSON object. */
export function parsedResponse(body: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    return recordOf(JSON.parse(body.toString('utf8')))
  } catch {
    return null
  }
}

/**
 * OpenAI's errors. An error in a stream is written twice: as `error` for OpenAI's SDKs, and as
 * `response.failed` for Codex. Codex decides by the error's code whether to retry.
 */
export const RESPONSES_ERRORS: ErrorFormat = {
  ...OPENAI_ERRORS,
  continuesStream: true,
  errorEvent: (body, sent = null) => {
    const { error } = body as ErrorBody
    const { message, param, type } = error
    const code = type === 'insufficient_quota' ? type : (error.code ?? type)
    const next = sent === null ? 0 : nextNumber(sent.last)
    const begun = sent === null ? newResponse() : responseIn(sent.first)
    const response = { ...begun, status: 'failed', output: [], usage: null }
    return [
      { type: 'error', sequence_number: next, code, message, param, error: { ...error, code } },
      {
        ...{ type: 'response.failed', sequence_number: next + 1 },
        response: { ...response, error: { code, message } },
      },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('')
  },
}

const NUMBER = /"sequence_number":\s*(\d{1,9})(?!\d)/g

/** Returns the number of the event after `events`. Quotes in texts are escaped and do not match. */
function nextNumber(events: Buffer): number {
  const numbers = [...events.toString('latin1').matchAll(NUMBER)]
  return Number(numbers.at(-1)?.[1] ?? -1) + 1
}

/** The members by which clients recognise a response. */
const IDENTITY = ['id', 'object', 'created_at', 'model'] as const

/** Returns the identity of the response that the first events of a stream have begun. */
function responseIn(events: Buffer): Readonly<Record<string, unknown>> {
  const [, data = ''] = /^data: ?(.+)$/m.exec(events.toString('utf8')) ?? []
  const response = recordOf(parsedResponse(Buffer.from(data))?.response)
  if (typeof response?.id !== 'string') return newResponse()
  const known = IDENTITY.filter((name) => response[name] !== undefined)
  return Object.fromEntries(known.map((name) => [name, response[name]]))
}

/** Clients may refuse a response without an id, so an error before the first event has one. */
const newResponse = () => ({
  id: `resp_${randomUUID().replaceAll('-', '')}`,
  object: 'response',
})

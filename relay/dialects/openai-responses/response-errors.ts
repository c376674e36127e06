import { randomUUID } from 'node:crypto'
import { type JsonObject, objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { redact } from '#relay/canonical/redact-provider-texts.ts'
import { type AnswerFault, answerListCheck } from '../check-successful-answer.ts'
import type { ErrorFormat } from '../error-format.ts'
import { type ErrorBody, OPENAI_ERRORS } from '../openai-chat/error-format.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import { isMembers } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'

const FAILED = Buffer.from('"failed"')
const UNFINISHED: readonly string[] = ['queued', 'in_progress']
const UNFINISHED_TEXTS = UNFINISHED.map((status) => Buffer.from(JSON.stringify(status)))
const errorOfMembers = answerListCheck({
  ...{ list: 'output', usageIn: usageInAnswer, repeatsRequest: true },
  errorOfFailed: failedResponse,
})

/**
 * Reports whether a complete answer is a response that the provider has yet to generate. Such a
 * response can't be billed, because its usage is not known yet.
 */
export function isUnfinished(body: Buffer): boolean {
  if (!UNFINISHED_TEXTS.some((text) => body.includes(text))) return false
  const status = parsedObject(body)?.status
  return typeof status === 'string' && UNFINISHED.includes(status)
}

/**
 * Checks the body of an answer with status 200. A failed response without a usage is an error. A
 * failed response with a usage counts as an answer, because the provider charges for it.
 */
export const errorOfResponse = (body: Buffer): AnswerFault | null =>
  isUnfinished(body) ? 'format' : errorOfMembers(body)

function failedResponse(body: Buffer): JsonObject | null {
  const response = body.includes(FAILED) ? parsedObject(body) : null
  return response?.status === 'failed' ? response : null
}

/** Removes the confidential texts from the error in a failed response. */
export function redactedResponse(body: Buffer, confidential: readonly string[]): Buffer {
  const response = failedResponse(body)
  const error = objectOf(response?.error)
  if (error === null) return body
  const { code, message } = error
  const texts = { code: textOf(code, confidential), message: textOf(message, confidential) }
  return Buffer.from(JSON.stringify({ ...response, error: texts }))
}

const textOf = (value: unknown, confidential: readonly string[]): string | null =>
  typeof value === 'string' ? redact(value, confidential) : null

/**
 * The error format of OpenAI's Responses API. An error in a stream is written twice: as `error` for
 * OpenAI's SDKs, and as `response.failed` for Codex. Codex decides by the error's code whether to
 * retry.
 */
export const RESPONSES_ERRORS: ErrorFormat = {
  ...OPENAI_ERRORS,
  readBegun: responseIn,
  errorEvent: (body, sent = null) => {
    const { error } = body as ErrorBody
    const { message, param, type } = error
    const code = type === 'insufficient_quota' ? type : (error.code ?? type)
    const next = sent === null ? 0 : nextNumber(sent.last)
    const begun = sent?.begun ?? newResponse()
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

/**
 * Returns the sequence number for the event after `events`. Text inside a string can't be mistaken
 * for the member `sequence_number`, because quotes inside strings are escaped.
 */
function nextNumber(events: Buffer): number {
  const numbers = [...events.toString('latin1').matchAll(NUMBER)]
  return Number(numbers.at(-1)?.[1] ?? -1) + 1
}

/** The members by which clients recognize a response. */
const IDENTITY: ReadonlySet<string> = new Set(['id', 'object', 'created_at', 'model'])

/**
 * Returns the members in `IDENTITY` of the response with which a stream begins. Returns null if its
 * first events contain no response. The response is not parsed, because it may repeat a long
 * request.
 */
function responseIn(events: Buffer): JsonObject | null {
  const [, data = ''] = /^data: ?(.+)$/m.exec(events.toString('utf8')) ?? []
  const bytes = Buffer.from(data)
  const response = membersIn(bytes).find(({ key }) => key === 'response')
  if (response?.kind !== 'object') return null
  const members = bytes.subarray(response.valueStart, response.valueEnd)
  const known = membersIn(members).filter(({ key }) => IDENTITY.has(key))
  const identity = Object.fromEntries(
    known.map(({ key, valueStart, valueEnd }) => [
      key,
      JSON.parse(members.toString('utf8', valueStart, valueEnd)),
    ]),
  )
  return typeof identity.id === 'string' ? identity : null
}

function membersIn(bytes: Buffer): readonly Member[] {
  const members = scanObject(bytes)
  return isMembers(members) ? members : []
}

/**
 * Returns a new response with an id, for an error before the first event. Some clients refuse a
 * response without an id.
 */
const newResponse = () => ({
  id: `resp_${randomUUID().replaceAll('-', '')}`,
  object: 'response',
})

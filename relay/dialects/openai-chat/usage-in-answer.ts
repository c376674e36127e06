import { type JsonObject, objectOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { closingBrace } from '../scan-json-tokens.ts'

/**
 * Returns the usage in a stream event or a complete answer. Moonshot sends the usage inside a
 * choice. llama.cpp sends the count of cached tokens as `timings.cache_n`, outside the usage. This
 * count is added to the usage as `cached_tokens`.
 */
export function usageInEvent(event: object): unknown {
  const { usage: outer, choices, timings } = event as JsonObject
  const usage = objectOf(outer) ?? usageInChoices(choices)
  if (usage === null) return undefined
  const cached = objectOf(timings)?.cache_n
  if (typeof cached !== 'number' || objectOf(usage.prompt_tokens_details) !== null) return usage
  return { ...usage, prompt_tokens_details: { cached_tokens: cached } }
}

function usageInChoices(choices: unknown): JsonObject | null {
  if (!Array.isArray(choices)) return null
  for (const choice of choices.toReversed()) {
    const usage = objectOf(objectOf(choice)?.usage)
    if (usage !== null) return usage
  }
  return null
}

const KEY = Buffer.from('"usage"')
/** The key of llama.cpp's count of cached tokens, which stands outside the `usage` object. */
const OUTSIDE = Buffer.from('"cache_n"')
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * Returns the `usage` of a complete answer (not a stream), usually without parsing the answer. If
 * the key `"usage"` occurs twice, the answer is parsed to find the right one.
 */
export function usageInAnswer(body: Buffer): unknown {
  const at = body.indexOf(KEY)
  if (at < 0) return undefined
  if (body.indexOf(KEY, at + 1) >= 0 || body.includes(OUTSIDE)) return usageOfWhole(body)
  let start = at + KEY.length
  while (isSpaceOrColon(body[start])) start += 1
  if (body[start] !== OPEN_BRACE) return usageOfWhole(body)
  const end = closingBrace(body, start)
  return end < 0 ? undefined : parsed(body, start, end + 1)
}

function usageOfWhole(body: Buffer): unknown {
  const value = parsed(body, 0, body.length)
  return typeof value === 'object' && value !== null ? usageInEvent(value) : undefined
}

const isSpaceOrColon = (byte: number | undefined): boolean =>
  byte === 58 || byte === 32 || byte === 10 || byte === 13 || byte === 9

function parsed(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    return undefined
  }
}

const ERROR = Buffer.from('"error"')

/**
 * Returns a function that checks the body of an answer with status 200. A valid answer is a JSON
 * object with one of `members`, whose value is not null. The function returns null for a valid
 * answer, `error-event` if the body contains an error instead, and `format` for any other body,
 * such as an error in a vendor's own format.
 */
export function answerCheck(...members: readonly string[]) {
  const keys = members.map((member) => Buffer.from(JSON.stringify(member)))
  return (body: Buffer): 'format' | 'error-event' | null => errorOfAnswer(body, keys)
}

function errorOfAnswer(body: Buffer, members: readonly Buffer[]): 'format' | 'error-event' | null {
  let first = 0
  let last = body.length - 1
  while ((body[first] ?? 33) <= 32) first += 1
  while ((body[last] ?? 33) <= 32) last -= 1
  if (body[first] !== OPEN_BRACE || body[last] !== CLOSE_BRACE) return 'format'
  if (members.some((member) => hasValue(body, member))) return null
  return body.includes(ERROR) ? 'error-event' : 'format'
}

const NULL_VALUE = /^\s*:\s*null\b/
const NULL_BYTES_MAX = 16

function hasValue(body: Buffer, member: Buffer): boolean {
  const at = body.indexOf(member)
  if (at < 0) return false
  const start = at + member.length
  return !NULL_VALUE.test(body.toString('latin1', start, start + NULL_BYTES_MAX))
}

/**
 * Renders a complete answer as a stream with one event. The message of each choice becomes the
 * delta of this choice.
 */
export function streamOfAnswer(body: Buffer): string {
  const answer = objectOf(parsed(body, 0, body.length))
  const choices = Array.isArray(answer?.choices) ? answer.choices : []
  const chunk = { ...answer, object: 'chat.completion.chunk', choices: choices.map(deltaChoice) }
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
}

function deltaChoice(choice: unknown): unknown {
  const { message, ...rest } = objectOrEmpty(choice)
  const { tool_calls: calls, ...delta } = objectOrEmpty(message)
  if (!Array.isArray(calls)) return { ...rest, delta }
  const toolCalls = calls.map((call, index) => ({ index, ...objectOf(call) }))
  return { ...rest, delta: { ...delta, tool_calls: toolCalls } }
}

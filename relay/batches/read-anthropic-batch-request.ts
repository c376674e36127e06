import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isRelayError, notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { isMembers } from '../dialects/read-common-request-members.ts'
import { closingQuote } from '../dialects/scan-json-tokens.ts'
import { scanObject } from '../dialects/scan-request-object.ts'

/** The maximum number of requests in a batch. */
export const LINES_MAX = 10_000

/**
 * One request of a batch: the id that the caller gave it, and its parameters as the caller sent
 * them.
 */
export type BatchLine = {
  readonly customId: string
  readonly params: Buffer
  /**
   * The caller's data that the provider returns with the result. Only lines of Gemini's batches
   * have it.
   */
  readonly metadata?: Buffer
}

const OPENING = /^[ \t\r\n]*\{[ \t\r\n]*"requests"[ \t\r\n]*:[ \t\r\n]*\[/
const OPENING_BYTES_MAX = 256
const CLOSING = /^[ \t\r\n]*\}[ \t\r\n]*$/
const CUSTOM_ID = /^[\w-]{1,64}$/
/** The maximum number of bytes that are read before the event loop may do other work. */
const BYTES_AT_ONCE = 1024 * 1024
/** The maximum number of lines that are read before the event loop may do other work. */
const LINES_AT_ONCE = 64

const NO_REQUESTS = notOneOf('requests', ['[{"custom_id": "…", "params": {…}}]'])
const TOO_MANY_REQUESTS = relayError('too_many_lines', {
  ...{ param: `requests[${LINES_MAX}]`, subject: `${LINES_MAX}` },
})
const NO_JSON = relayError('json_incomplete')
const [QUOTE, COMMA] = [34, 44]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93]

/**
 * Reads the body `{"requests": [...]}` of a batch, and checks each request. The event loop can do
 * other work after every `LINES_AT_ONCE` requests, so a long batch does not block it.
 */
export async function readAnthropicBatchRequest(
  body: Buffer,
): Promise<readonly BatchLine[] | RelayError> {
  const elements = await splitRequests(body)
  if (isRelayError(elements)) return elements
  const lines: BatchLine[] = []
  const ids = new Set<string>()
  for (const [index, element] of elements.entries()) {
    if (index % LINES_AT_ONCE === 0) await yieldToEventLoop()
    const line = readLine(element)
    if (isRelayError(line)) return inRequest(line, index)
    if (ids.has(line.customId)) {
      return inRequest(relayError('custom_id_repeated', { param: 'custom_id' }), index)
    }
    ids.add(line.customId)
    lines.push(line)
  }
  return lines
}

/** Returns the error with the JSON path of the faulty request before its parameter name. */
export function inRequest(error: RelayError, index: number, prefix = ''): RelayError {
  const { param } = error.params
  const path = [`requests[${index}]`, prefix, param ?? ''].filter((part) => part !== '').join('.')
  return { ...error, params: { ...error.params, param: path } }
}

/**
 * Splits the array `requests` into the bytes of its elements, by counting brackets and braces. The
 * elements are not checked yet.
 */
async function splitRequests(body: Buffer): Promise<readonly Buffer[] | RelayError> {
  const head = body.subarray(0, OPENING_BYTES_MAX).toString('latin1')
  const start = OPENING.exec(head)?.[0].length
  if (start === undefined) return NO_REQUESTS
  const elements: Buffer[] = []
  let depth = 0
  let begin = start
  let isAfterComma = true
  let pauseAt = start + BYTES_AT_ONCE
  for (let at = start; at < body.length; at += 1) {
    if (at > pauseAt) {
      pauseAt = at + BYTES_AT_ONCE
      await yieldToEventLoop()
    }
    const byte = body[at]
    if (depth > 0 && byte === QUOTE) {
      at = closingQuote(body, at)
      if (at < 0) return NO_JSON
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === 0 && (byte !== OPEN_BRACE || !isAfterComma)) return NO_REQUESTS
      if (depth === 0) begin = at
      depth += 1
    } else if (depth > 0 && (byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) {
      depth -= 1
      if (depth > 0) continue
      if (elements.length === LINES_MAX) return TOO_MANY_REQUESTS
      elements.push(body.subarray(begin, at + 1))
      isAfterComma = false
    } else if (depth === 0 && byte === CLOSE_BRACKET) {
      const isEnd = CLOSING.test(body.subarray(at + 1).toString('latin1', 0, OPENING_BYTES_MAX))
      return isEnd && elements.length > 0 && !isAfterComma ? elements : NO_REQUESTS
    } else if (depth === 0 && byte === COMMA) {
      if (isAfterComma) return NO_REQUESTS
      isAfterComma = true
    } else if (depth === 0 && !isSpace(byte)) return NO_REQUESTS
  }
  return NO_JSON
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 32 || byte === 10 || byte === 13 || byte === 9

function readLine(element: Buffer): BatchLine | RelayError {
  const members = scanObject(element)
  if (!isMembers(members)) return jsonError(element, members)
  const other = members.find(({ key }) => key !== 'custom_id' && key !== 'params')
  if (other !== undefined) return relayError('parameter_not_supported', { param: other.key })
  const id = members.find(({ key }) => key === 'custom_id')
  if (id === undefined) return relayError('missing_parameter', { param: 'custom_id' })
  const text = element.toString('utf8', id.valueStart, id.valueEnd)
  const customId: unknown = id.kind === 'string' ? JSON.parse(text) : null
  if (typeof customId !== 'string' || !CUSTOM_ID.test(customId)) {
    return relayError('invalid_parameter', { param: 'custom_id' })
  }
  const params = members.find(({ key }) => key === 'params')
  if (params === undefined) return relayError('missing_parameter', { param: 'params' })
  if (params.kind !== 'object') return relayError('invalid_parameter', { param: 'params' })
  return { customId, params: element.subarray(params.valueStart, params.valueEnd) }
}

import { applyEdits, type ByteEdit } from '../byte-edits.ts'
import { afterWhiteSpace } from '../scan-json-tokens.ts'
import type { ChatRequest } from '../wire-format.ts'
import { memberIn } from './base-of-formats-without-output.ts'

const KEY = Buffer.from('"embedding"')
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

/**
 * The maximum length in bytes of an answer that is changed. Parsing the numbers of a longer answer
 * would block the event loop.
 */
const CHANGED_BYTES_MAX = 16 * 1024 * 1024

/**
 * Encodes the vectors of an answer as base64 of 32-bit numbers, if the caller requested base64 and
 * the provider sent lists of numbers. OpenAI's clients request base64 by default, and decode any
 * value as base64.
 */
export function vectorsAsBase64(request: ChatRequest, answer: Buffer): Buffer {
  if (!requestsBase64(request) || answer.length > CHANGED_BYTES_MAX) return answer
  const edits: ByteEdit[] = []
  for (let at = answer.indexOf(KEY); at >= 0; at = answer.indexOf(KEY, at + KEY.length)) {
    const colon = afterWhiteSpace(answer, at + KEY.length)
    const start = afterWhiteSpace(answer, colon + 1)
    if (answer[colon] !== COLON || answer[start] !== OPEN_BRACKET) continue
    const end = answer.indexOf(CLOSE_BRACKET, start) + 1
    const base64 = end === 0 ? null : base64Of(parsed(answer.toString('latin1', start, end)))
    if (base64 !== null) edits.push({ start, end, text: JSON.stringify(base64) })
  }
  return applyEdits(answer, edits)
}

/** Reports whether the caller requests vectors as base64. */
export function requestsBase64({ body, members }: ChatRequest): boolean {
  const format = memberIn(members, 'encoding_format')
  return (
    format?.kind === 'string' &&
    body.toString('latin1', format.valueStart, format.valueEnd) === '"base64"'
  )
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/**
 * Returns a vector as base64 of its 32-bit numbers. Returns null if the value is not a list of
 * numbers.
 */
export function base64Of(values: unknown): string | null {
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'number')) return null
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

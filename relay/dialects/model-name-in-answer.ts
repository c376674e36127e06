import { applyEdits, type ByteEdit } from './byte-edits.ts'
import { afterWhiteSpace, closingQuote } from './scan-json-tokens.ts'
import type { WireFormat } from './wire-format.ts'

const KEY = Buffer.from('"model"')
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/** Returns the model name in an answer or in events. Returns null if there is none. */
export const answeredModelIn = ({ modelName }: WireFormat, bytes: Buffer): string | null =>
  (modelName?.find ?? modelIn)(bytes)

/**
 * Replaces the provider's model name in an answer or in complete events by `model`, the name that
 * the caller used.
 */
export const withShownModel = ({ modelName }: WireFormat, bytes: Buffer, model: string): Buffer =>
  (modelName?.replace ?? withModel)(bytes, model)

/**
 * Replaces the provider's model name by the caller's name in an answer or in complete events. The
 * key `"model"` is found by its bytes. Text inside a string can't be mistaken for the key, because
 * JSON escapes quotes inside strings. An empty name, as in Azure's first event, is not replaced.
 */
export function withModel(bytes: Buffer, model: string): Buffer {
  const edits: ByteEdit[] = []
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + KEY.length)) {
    if (bytes[at - 1] === BACKSLASH) continue
    const colon = afterWhiteSpace(bytes, at + KEY.length)
    if (bytes[colon] !== COLON) continue
    const start = afterWhiteSpace(bytes, colon + 1)
    const end = bytes[start] === QUOTE ? closingQuote(bytes, start) : -1
    if (end > start + 1) edits.push({ start, end: end + 1, text: JSON.stringify(model) })
  }
  return applyEdits(bytes, edits)
}

/**
 * Returns the value of the first `model` member in an answer. Returns null if there is none or its
 * value is not a string.
 */
export function modelIn(bytes: Buffer): string | null {
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + KEY.length)) {
    const colon = afterWhiteSpace(bytes, at + KEY.length)
    if (bytes[colon] !== COLON) continue
    const start = afterWhiteSpace(bytes, colon + 1)
    const end = bytes[start] === QUOTE ? closingQuote(bytes, start) : -1
    return end < 0 ? null : bytes.toString('utf8', start + 1, end)
  }
  return null
}

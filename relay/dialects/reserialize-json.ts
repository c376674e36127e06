/**
 * Matches a number that a double may not represent exactly. A match inside a string only makes the
 * serialization slower.
 */
const LONG_NUMBER = /\d{16}|\d[eE]/
/**
 * The maximum length of a body in which all digits of numbers are kept. In larger bodies, visiting
 * each value would block the event loop.
 */
const EXACT_BYTES_MAX = 1024 * 1024

/**
 * Parses and serializes valid JSON. Of several members with one name, the last remains. Numbers
 * keep all their digits.
 */
export function reserializeJson(body: Buffer): Buffer {
  const text = body.toString('utf8')
  const isExact = body.length <= EXACT_BYTES_MAX && LONG_NUMBER.test(text)
  return Buffer.from(JSON.stringify(isExact ? JSON.parse(text, withDigits) : JSON.parse(text)))
}

type Source = { readonly source?: string }

/** NOTE: TypeScript's library does not yet declare the reviver's third argument and `rawJSON`. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

const withDigits = (_key: string, value: unknown, context?: Source): unknown =>
  typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value

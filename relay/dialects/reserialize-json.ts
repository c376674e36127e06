/**
 * Matches a number that may lose digits as a double. A match inside a string only makes the
 * serialization slower.
 */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE]/
/**
 * The maximum length of a body whose numbers keep all digits. Keeping all digits requires a visit
 * to each value, which would block the event loop for a longer body.
 */
const EXACT_BYTES_MAX = 1024 * 1024

/**
 * Parses and serializes valid JSON. If several members have the same name, only the last one
 * remains. In bodies of up to `EXACT_BYTES_MAX` bytes, numbers keep all their digits.
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

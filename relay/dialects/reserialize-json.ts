/** Matches a number that a double may not hold. A match inside a text only costs time. */
const LONG_NUMBER = /\d{16}|\d[eE]/
/**
 * In larger bodies numbers are read as doubles, because visiting each value would block the loop.
 */
const EXACT_BYTES_MAX = 1024 * 1024

/**
 * Serialises the JSON as the gateway parses it, so that only the last of several members with the
 * same name remains. Numbers keep their digits. `body` must be valid JSON.
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

/** A number that a double may not hold; inside a text it only costs time. */
const LONG_NUMBER = /\d{16}|\d[eE]/
/** Beyond it, numbers are read as doubles: a look at each value would hold the loop. */
const EXACT_BYTES_MAX = 1024 * 1024

/**
 * The JSON as it is read: of members given twice inside it the last alone, which is the one that
 * readers here go by. Numbers keep their digits. `body` is valid JSON.
 */
export function reserialised(body: Buffer): Buffer {
  const text = body.toString('utf8')
  const isExact = body.length <= EXACT_BYTES_MAX && LONG_NUMBER.test(text)
  return Buffer.from(JSON.stringify(isExact ? JSON.parse(text, withDigits) : JSON.parse(text)))
}

type Source = { readonly source?: string }

/** NOTE: neither the reviver's third argument nor `rawJSON` are in TypeScript's library yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

const withDigits = (_key: string, value: unknown, context?: Source): unknown =>
  typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value

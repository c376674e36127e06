/** A JSON object from a caller or a provider. Any member may be missing or have any type. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the value if it is a string, and otherwise null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns the value if it is a string, and otherwise an empty string. */
export const textOrEmpty = (value: unknown): string => textOf(value) ?? ''

/** Returns the value if it is a finite number, and otherwise null. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/**
 * Returns a number unchanged, and for a text the number that it states (NaN if it states none, 0 if
 * it is empty). Returns NaN for any other value. `Number` itself would convert `true` to 1, and
 * would throw for an object with a member `toString`.
 */
export const numericOf = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

/**
 * Returns a text, a number or a boolean as a text, and an empty text for any other value. Unlike
 * `String`, this function never throws. `String` throws for an object such as `{"toString":1}` and
 * for a list that is nested too deeply, and a provider's JSON may contain both.
 */
export const scalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `${value}`
    : ''

/** Reports whether a value is a JSON object. Returns false for an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value if it is a JSON object, and otherwise null. */
export const objectOf = (value: unknown): JsonObject | null => (isObject(value) ? value : null)

const NO_MEMBERS: JsonObject = Object.freeze({})

/** Returns the value if it is a JSON object, and otherwise an empty object. */
export const objectOrEmpty = (value: unknown): JsonObject => objectOf(value) ?? NO_MEMBERS

/** Returns the value if it is a list, and otherwise an empty list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the elements of a list that are objects. */
export const objectsOf = (value: unknown): readonly JsonObject[] => listOf(value).filter(isObject)

/**
 * Parses a JSON object from a text or from UTF-8 bytes. Returns null for anything else. The caller
 * must limit the length and the depth, because this function does not.
 */
export function parsedObject(json: string | Buffer): JsonObject | null {
  try {
    return objectOf(JSON.parse(typeof json === 'string' ? json : json.toString('utf8')))
  } catch {
    return null
  }
}

/**
 * Returns the value as JSON. Returns an empty text for undefined, and for a value that is nested
 * too deeply to be serialized (about 5 000 levels). `JSON.parse` has no such limit, so a provider's
 * answer may contain such a value.
 */
export function jsonOrEmpty(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch (error) {
    if (error instanceof RangeError) return ''
    throw error
  }
}

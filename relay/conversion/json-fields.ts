import { ConversionError, type JsonObject } from './canonical-request.ts'

/** Returns a text, or null for any other value. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns a finite number, or null for any other value. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/** Returns the value if it is a boolean; otherwise null. */
export const booleanOf = (value: unknown): boolean | null =>
  typeof value === 'boolean' ? value : null

/** Returns a text, or an empty text for any other value. */
export const textOrEmpty = (value: unknown): string => textOf(value) ?? ''

/** Reports whether a value is a JSON object. An array is not an object here. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a JSON object, or null for any other value. */
export const objectOf = (value: unknown): JsonObject | null => (isObject(value) ? value : null)

const NO_MEMBERS: JsonObject = Object.freeze({})

/** Returns a JSON object, or an object without members for any other value. */
export const objectOrEmpty = (value: unknown): JsonObject => objectOf(value) ?? NO_MEMBERS

/** Returns a list, or an empty list for any other value. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the objects of a list without its other elements. */
export const objectsOf = (value: unknown): readonly JsonObject[] =>
  listOf(value)
    .map(objectOf)
    .filter((element) => element !== null)

/** The largest token count that is passed on. It equals the largest count that is billed. */
export const TOKEN_COUNT_MAX = 10_000_000

/**
 * Returns a token count as an integer from 0 to TOKEN_COUNT_MAX. A fraction is rounded up, a count
 * that is written as text is read, and any other value is 0.
 */
export function tokenCountOf(value: unknown): number {
  const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
  if (typeof count !== 'number' || Number.isNaN(count)) return 0
  return Math.min(Math.ceil(Math.max(count, 0)), TOKEN_COUNT_MAX)
}

const DIGITS = /^\d{1,16}$/

/** Parses the text of a JSON object. Returns null for any other text. */
export function parsedObject(text: string): JsonObject | null {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return null
  }
}

/** Returns true for a member without a value. Providers treat null like a missing member. */
export const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null

/** Returns the text at `path` of a request. Throws a ConversionError for any other value. */
export function requiredText(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw new ConversionError(path, 'A string is expected.')
}

/** Returns the object at `path` of a request. Throws a ConversionError for any other value. */
export function requiredObject(value: unknown, path: string): JsonObject {
  const object = objectOf(value)
  if (object !== null) return object
  throw new ConversionError(path, 'An object is expected.')
}

/** Returns the list at `path` of a request. Throws a ConversionError for any other value. */
export function requiredList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new ConversionError(path, 'An array is expected.')
}

/** Returns the text at `path`, or null if it is absent. Throws for any other value. */
export const optionalText = (value: unknown, path: string): string | null =>
  isAbsent(value) ? null : requiredText(value, path)

/** Returns the object at `path`, or null if it is absent. Throws for any other value. */
export const optionalObject = (value: unknown, path: string): JsonObject | null =>
  isAbsent(value) ? null : requiredObject(value, path)

/** Returns the list at `path`, or an empty list if it is absent. Throws for any other value. */
export const optionalList = (value: unknown, path: string): readonly unknown[] =>
  isAbsent(value) ? [] : requiredList(value, path)

/** Returns the number at `path`, or null if it is absent. Throws for any other value. */
export function optionalNumber(value: unknown, path: string): number | null {
  if (isAbsent(value)) return null
  const number = numberOf(value)
  if (number !== null) return number
  throw new ConversionError(path, 'A number is expected.')
}

/** Returns the integer at `path`, or null if it is absent. Throws for any other value. */
export function optionalInteger(value: unknown, path: string): number | null {
  const number = optionalNumber(value, path)
  if (number === null || Number.isSafeInteger(number)) return number
  throw new ConversionError(path, 'An integer is expected.')
}

/** Returns the boolean at `path`, or null if it is absent. Throws for any other value. */
export function optionalBoolean(value: unknown, path: string): boolean | null {
  if (isAbsent(value)) return null
  if (typeof value === 'boolean') return value
  throw new ConversionError(path, 'A boolean is expected.')
}

import { type JsonObject, numberOf, objectOf } from '#relay/canonical/json-values.ts'
import { ConversionError } from '../canonical/canonical-request.ts'

/** Reports whether a member has no value. Providers treat null like a missing member. */
export const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null

/**
 * Returns a required string. Throws a `ConversionError` with `path` if the value is not a string.
 */
export function requiredText(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw new ConversionError(path, 'A string is expected.')
}

/**
 * Returns a required object. Throws a `ConversionError` with `path` if the value is not an object.
 */
export function requiredObject(value: unknown, path: string): JsonObject {
  const object = objectOf(value)
  if (object !== null) return object
  throw new ConversionError(path, 'An object is expected.')
}

/** Returns a required list. Throws a `ConversionError` with `path` if the value is not a list. */
export function requiredList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new ConversionError(path, 'An array is expected.')
}

/** Returns a string, or null if it is absent. Throws a `ConversionError` for any other value. */
export const optionalText = (value: unknown, path: string): string | null =>
  isAbsent(value) ? null : requiredText(value, path)

/** Returns an object, or null if it is absent. Throws a `ConversionError` for any other value. */
export const optionalObject = (value: unknown, path: string): JsonObject | null =>
  isAbsent(value) ? null : requiredObject(value, path)

/**
 * Returns a list, or an empty list if it is absent. Throws a `ConversionError` for any other value.
 */
export const optionalList = (value: unknown, path: string): readonly unknown[] =>
  isAbsent(value) ? [] : requiredList(value, path)

/** Returns a number, or null if it is absent. Throws a `ConversionError` for any other value. */
export function optionalNumber(value: unknown, path: string): number | null {
  if (isAbsent(value)) return null
  const number = numberOf(value)
  if (number !== null) return number
  throw new ConversionError(path, 'A number is expected.')
}

/** Returns an integer, or null if it is absent. Throws a `ConversionError` for any other value. */
export function optionalInteger(value: unknown, path: string): number | null {
  const number = optionalNumber(value, path)
  if (number === null || Number.isSafeInteger(number)) return number
  throw new ConversionError(path, 'An integer is expected.')
}

/** Returns a boolean, or null if it is absent. Throws a `ConversionError` for any other value. */
export function optionalBoolean(value: unknown, path: string): boolean | null {
  if (isAbsent(value)) return null
  if (typeof value === 'boolean') return value
  throw new ConversionError(path, 'A boolean is expected.')
}

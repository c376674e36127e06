import { InexpressibleMemberError } from '#relay/canonical/canonical-request.ts'
import { isObject, type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { countOutsideStrings } from '../dialects/scan-json-tokens.ts'
import { CONVERTED_KEYS_MAX } from './conversion-limits.ts'

/** A colon for each member, and the beginnings of objects and arrays. */
const COUNTED = [...Buffer.from(':{[')]
/** The beginning of an object or array. An array is no arguments, but it is parsed to find out. */
const BEGINNING = /^\s*[{[]/
/** The maximum number of members, objects and arrays in data that the gateway gave to a caller. */
const SMALL_MAX = 32

/**
 * Thrown for the arguments of tool calls that together have too much JSON to be parsed. The limit
 * of the request's own members does not cover them, because they are texts.
 */
export class ArgumentsSizeError extends InexpressibleMemberError {}

/** The members, objects and arrays that may still be parsed from texts of one request. */
export class JsonTextBudget {
  private left = CONVERTED_KEYS_MAX

  /** Counts a text. Returns false if it has more than may still be parsed. */
  take(text: string): boolean {
    // Other texts are not parsed far.
    if (!BEGINNING.test(text)) return true
    const count = countOutsideStrings(Buffer.from(text), COUNTED, this.left)
    if (count > this.left) return false
    this.left -= count
    return true
  }
}

/**
 * Throws an `ArgumentsSizeError` if the texts in members named `arguments` have too much JSON. In
 * OpenAI's formats, these are the arguments of tool calls. `request` must not be nested deeply.
 */
export function checkArguments(request: JsonObject): void {
  const budget = new JsonTextBudget()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const element of value) visit(element)
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'arguments' && typeof member === 'string' && !budget.take(member)) {
        throw new ArgumentsSizeError(name, 'The arguments of tool calls have too many members.')
      }
      visit(member)
    }
  }
  visit(request.messages)
  visit(request.input)
}

/**
 * Parses data that the gateway gave to a caller, such as a signature with the id of its call. It
 * has few members. Returns null for anything larger, which a caller made up.
 */
export const parsedSmallObject = (text: string): JsonObject | null =>
  countOutsideStrings(Buffer.from(text), COUNTED, SMALL_MAX) > SMALL_MAX ? null : parsedObject(text)

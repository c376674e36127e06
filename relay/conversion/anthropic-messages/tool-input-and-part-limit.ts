import type { JsonObject } from '../canonical-request.ts'
import { parsedObject } from '../json-fields.ts'

/** An object that is being written. Its members become the members of the JSON text. */
export type Block = Record<string, unknown>

/** The highest number of parts that are read from one answer. A provider may send any number. */
export const PARTS_MAX = 128

/**
 * Returns the input of a tool call as an object, because the format accepts only objects. Other
 * arguments are kept as text under a name that no tool expects. Examples are arguments that were
 * cut off, or that are nested too deeply to be written as JSON.
 */
export function toolInputOf(argumentsJson: string): { input: JsonObject; isValid: boolean } {
  if (argumentsJson.trim() === '') return { input: {}, isValid: true }
  const input = parsedObject(argumentsJson)
  if (input !== null && !isDeep(input, 0)) return { input, isValid: true }
  return { input: { INVALID_JSON: argumentsJson }, isValid: false }
}

/** The maximum depth of arguments. Writing deeper ones as JSON could exceed the stack. */
const DEPTH_MAX = 256

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= DEPTH_MAX || Object.values(value).some((inner) => isDeep(inner, depth + 1))
}

import { type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'

/** A JSON object that is being built. */
export type Block = Record<string, unknown>

/**
 * Returns the input of a tool call as an object, because the format accepts only objects. Empty
 * arguments become an empty object. If the arguments are not a JSON object (for example because
 * they were cut off) or are nested too deeply, they become a text in the member `INVALID_JSON`, and
 * `isValid` is false. No tool expects a member of this name.
 */
export function toolInputOf(argumentsJson: string): { input: JsonObject; isValid: boolean } {
  if (argumentsJson.trim() === '') return { input: {}, isValid: true }
  const input = parsedObject(argumentsJson)
  if (input !== null && !isDeep(input, 0)) return { input, isValid: true }
  return { input: { INVALID_JSON: argumentsJson }, isValid: false }
}

/** The maximum depth of arguments. Serializing deeper arguments could overflow the stack. */
const DEPTH_MAX = 256

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= DEPTH_MAX || Object.values(value).some((inner) => isDeep(inner, depth + 1))
}

import { type JsonObject, objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { isAbsent, optionalText } from './json-fields.ts'

/** The maximum number of losses that are collected. A caller's request may cause any number. */
const LOSSES_MAX = 100

/** Adds the path of a member that can't be converted. Losses beyond `LOSSES_MAX` are dropped. */
export function addLoss(losses: string[], path: string): void {
  if (losses.length < LOSSES_MAX) losses.push(path)
}

/** Reports as lost all members of `object` that have a value and are not in `names`. */
export function addUnreadMembers(
  object: JsonObject,
  names: ReadonlySet<string>,
  path: string,
  losses: string[],
): void {
  for (const [name, value] of Object.entries(object)) {
    if (names.has(name) || isAbsent(value)) continue
    addLoss(losses, path === '' ? name : `${path}.${name}`)
  }
}

/**
 * Returns the arguments of a tool call as the JSON text of an object. If a model wrote invalid
 * JSON, it is wrapped in an object. Otherwise, the caller could not continue the conversation.
 */
export function readArguments(value: unknown, path: string, losses: string[]): string {
  const object = objectOf(value)
  if (object !== null) return JSON.stringify(object)
  const text = optionalText(value, path) ?? ''
  if (text.trim() === '') return '{}'
  if (parsedObject(text) !== null) return text
  addLoss(losses, path)
  return JSON.stringify({ arguments: text })
}

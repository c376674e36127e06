import type { JsonObject } from './canonical-request.ts'
import { isAbsent, objectOf, optionalText, parsedObject } from './json-fields.ts'

/** The highest number of losses that are collected. A caller's request may have any number. */
const LOSSES_MAX = 100

/** Adds the path of a loss. Losses beyond `LOSSES_MAX` are dropped. */
export function addLoss(losses: string[], path: string): void {
  if (losses.length < LOSSES_MAX) losses.push(path)
}

/** Adds every member of `object` that has a value and is not in `names` to the losses. */
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
 * Returns the arguments of a tool call as the JSON text of an object. Invalid JSON of a model is
 * wrapped in an object. Otherwise, the caller could not continue the conversation.
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

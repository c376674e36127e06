import type { JsonObject } from '#relay/canonical/json-values.ts'
import { isAbsent } from './read-json-values-strictly.ts'

/**
 * The maximum number of losses that are collected, because the number of losses in a request has no
 * bound.
 */
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

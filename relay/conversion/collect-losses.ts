import type { JsonObject } from '#relay/canonical/json-values.ts'
import { isAbsent } from './read-json-values-strictly.ts'

/**
 * The maximum number of losses in one list. A request may have any number of members that can't be
 * converted.
 */
const LOSSES_MAX = 1_000

/** Adds the path of a member that can't be converted. Losses beyond `LOSSES_MAX` are dropped. */
export function addLoss(losses: string[], path: string): void {
  if (losses.length < LOSSES_MAX) losses.push(path)
}

/**
 * Reports as lost all members of `object` that have a value other than null and are not in `names`.
 * `path` is the path of `object`, or an empty string for the request itself.
 */
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

import type { JsonObject } from '#relay/canonical/json-values.ts'
import { isAbsent } from './read-json-values-strictly.ts'

/**
 * The maximum number of losses in one list. A request may have any number of members that can't be
 * converted.
 */
const LOSSES_MAX = 1_000

/**
 * The maximum length of a path. A path contains the caller's names, which have any length. Without
 * the limit, a long name would be repeated in the path of each member below it, and comparing the
 * paths would block the event loop, because V8 hashes a long text by its length only.
 */
const PATH_LENGTH_MAX = 256

/** Returns a path, cut to its maximum length. */
export const shortPath = (path: string): string =>
  path.length <= PATH_LENGTH_MAX
    ? path
    : // A slice would keep the whole path in memory, so its characters are copied.
      `${Buffer.from(path.slice(0, PATH_LENGTH_MAX - 1)).toString()}…`

/**
 * Adds the path of a member that can't be converted. Losses beyond `LOSSES_MAX` are dropped, and a
 * long path is cut.
 */
export function addLoss(losses: string[], path: string): void {
  if (losses.length < LOSSES_MAX) losses.push(shortPath(path))
}

/** Collects losses, each once, with the limits of `addLoss`. */
export class DistinctLosses {
  private readonly paths = new Set<string>()

  add(path: string): void {
    if (this.paths.size < LOSSES_MAX) this.paths.add(shortPath(path))
  }

  get list(): readonly string[] {
    return [...this.paths]
  }
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

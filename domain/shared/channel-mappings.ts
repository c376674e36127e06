/**
 * The maximum number of mapping steps from the requested model to the model that is sent to the
 * provider.
 */
export const MAPPING_DEPTH_MAX = 8

/**
 * Follows the mapping from a name and returns its error: a cycle or too many steps. Returns null if
 * there is no error. `next` returns the name to which a name is mapped. The mapping ends at a name
 * that is not mapped, or that is mapped to itself.
 */
export function mappingError(
  start: string,
  next: (name: string) => unknown,
): 'circle' | 'too-deep' | null {
  const seen = new Set([start])
  for (let name = start; ; ) {
    const target = next(name)
    if (typeof target !== 'string' || target === name) return null
    if (seen.has(target)) return 'circle'
    seen.add(target)
    if (seen.size > MAPPING_DEPTH_MAX + 1) return 'too-deep'
    name = target
  }
}

/**
 * Returns whether the status `from` may be mapped to `to`. The target must be 400 to 599, so that
 * callers still see an error.
 */
export const isStatusMapping = (from: string, to: string): boolean =>
  /^[1-5]\d\d$/.test(from) && /^[45]\d\d$/.test(to)

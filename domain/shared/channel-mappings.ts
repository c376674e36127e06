/** The maximum number of steps from a requested model to the model that is sent. */
export const MAPPING_DEPTH_MAX = 8

/**
 * Returns the error in the mapping steps that start at a name, or null. `next` returns the target
 * of a name. The steps end at a name that has no target or is its own target.
 */
export function mappingFault(
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

/** The most steps in which a channel's model mapping may lead to the model that is sent. */
export const MAPPING_DEPTH_MAX = 8

/**
 * What is wrong with the steps from one name on, or null. `next` returns the target of a name; a
 * name without a target, or that is its own target, ends the steps.
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

/** Whether a status may be mapped to another: callers must still see an error. */
export const isStatusMapping = (from: string, to: string): boolean =>
  /^[1-5]\d\d$/.test(from) && /^[45]\d\d$/.test(to)

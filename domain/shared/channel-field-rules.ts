/**
 * The rules for choosing the key for a call. `random`: a random key. `polling`: the keys in
 * rotation. The rule is empty if the channel has only one key.
 */
export const KEY_MODES = ['', 'random', 'polling'] as const
export type KeyMode = (typeof KEY_MODES)[number]

/**
 * The maximum of the provider's price as a multiple of the list price. A greater multiple can only
 * be a typing error.
 */
export const COST_RATIO_MAX = 1_000

/** The maximum number of mapping steps from the requested model to the provider's model. */
export const MAPPING_DEPTH_MAX = 8

/**
 * Follows the mapping from a name until a name has no mapping or maps to itself. Returns an error
 * for a cycle or too many steps, otherwise null.
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
 * Reports whether one HTTP status may be mapped to another. The target must be a status from 400 to
 * 599, so that callers still see an error.
 */
export const isStatusMapping = (from: string, to: string): boolean =>
  /^[1-5]\d\d$/.test(from) && /^[45]\d\d$/.test(to)

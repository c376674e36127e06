import type { Faulty } from './check-option.ts'
import { OPTIONS, optionInteger } from './registry.ts'

/**
 * What is wrong with the two ends of a range (`notBelow`) once `key` has this text; null for
 * nothing. An upper end of 0 is none.
 */
export function rangeFault(
  values: ReadonlyMap<string, string>,
  key: string,
  text: string,
): Faulty | null {
  for (const { key: upper, notBelow: lower } of OPTIONS.values()) {
    if (lower === undefined || (key !== upper && key !== lower)) continue
    const [least, most] = [
      key === lower ? Number(text) : optionInteger(values, lower),
      key === upper ? Number(text) : optionInteger(values, upper),
    ]
    if (most === 0 || most >= least) continue
    return key === upper
      ? { fault: 'below-other', name: lower, minimum: least }
      : { fault: 'above-other', name: upper, maximum: most }
  }
  return null
}

import type { OptionSchema } from '#read-api/contract/option.ts'
import type { OptionChange } from './option-changes.ts'
import { isRange } from './setting-faults.ts'

/**
 * The changes as they are sent: side by side, but the ends of a range one after the other, so that
 * they are a range in between too. One of both orders always is right.
 */
export function inSequences(
  changes: readonly OptionChange[],
  schema: ReadonlyMap<string, OptionSchema>,
): OptionChange[][] {
  const rest = new Map(changes.map((change) => [change.key, change]))
  const pairs = changes.flatMap((upper) => {
    const lower = rest.get(schema.get(upper.key)?.not_below ?? '')
    if (lower === undefined) return []
    rest.delete(upper.key)
    rest.delete(lower.key)
    return [isRange(lower.before, upper.after) ? [upper, lower] : [lower, upper]]
  })
  return [...pairs, ...[...rest.values()].map((change) => [change])]
}

import type { RedemptionCommand } from '#domain/redemption/commands.ts'
import { redemptionDecider } from '#domain/redemption/decide.ts'
import { redemptionStream } from '#domain/redemption/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import type { RedemptionKey } from '#projections/redemptions/query.ts'
import { accepted, type Deps } from '../act.ts'

/** So many streams in one append. */
const TOGETHER_MAX = 200

export type Changed = { readonly ids: ReadonlySet<number>; readonly position: number }

/**
 * A command to each of the codes, so many at a time; each such part wholly or not at all. Answers
 * which of them it changed.
 */
export async function decideRedemptions(
  { core: { actors } }: Deps,
  keys: readonly RedemptionKey[],
  commandFor: (redemptionId: number) => RedemptionCommand,
  context: ActContext,
): Promise<Changed> {
  const ids = new Set<number>()
  let position = 0
  for (let from = 0; from < keys.length; from += TOGETHER_MAX) {
    const steps = keys.slice(from, from + TOGETHER_MAX).map(({ id, keyLookup }) => ({
      decider: redemptionDecider,
      stream: redemptionStream(keyLookup),
      command: commandFor(id),
    }))
    const done = accepted(await actors.handleTogether(steps, context))
    for (const { data } of done.events) ids.add((data as { redemptionId: number }).redemptionId)
    position = Math.max(position, done.position)
  }
  return { ids, position }
}

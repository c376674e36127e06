import { setTimeout as delay } from 'node:timers/promises'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { Core } from '#infra/core.ts'
import type { Held } from '#infra/leases/leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/throttled-warning.ts'

const EVERY_MS = 1_000
const LEASE = 'price-changes'

type ClockCore = Pick<Core, 'actors' | 'leases' | 'log' | 'now'>

/**
 * Applies scheduled price changes once their time has come, in one process of all that accept
 * commands: whoever holds the lease. What came due while none was running is applied at the start.
 */
export const startDuePrices = (core: ClockCore): Held =>
  core.leases.hold(LEASE, async (_lease, lost) => {
    while (!lost.aborted) {
      await applyDuePrices(core).catch((err: unknown) => {
        warnThrottled(
          core.log,
          { reason: reasonOf(err) },
          'scheduled prices: a look failed, the next tries again',
        )
      })
      await delay(EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })

/** The stream decides: two processes that try at once, or again after a kill, apply it once. */
export async function applyDuePrices({ actors, now }: Pick<Core, 'actors' | 'now'>): Promise<void> {
  const { planned } = await actors.stateOf(optionsDecider, OPTIONS_STREAM)
  const at = now()
  const due = [...planned.values()].filter((change) => change.at <= at)
  due.sort((one, other) => one.at - other.at || one.id - other.id)
  for (const { id } of due) {
    const context = { actor: 'system:price-changes', cause: `price-change-${id}`, at }
    const command = { type: 'ApplyPriceChange', id, now: at } as const
    await actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  }
}

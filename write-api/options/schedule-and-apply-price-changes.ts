import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { pauseUntilCommit } from '#infra/event-store/pause-idle-work-until-next-event.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { type Action, accepted, contextOf, idOf, waitUntilVisible } from '../action.ts'
import { optionActions, type PlannedEntry } from '../contract/options.ts'
import { decideOptions } from './set-option-and-reset-ratios.ts'

/**
 * POST /api/option/price_schedule: schedules a price change, which can replace a scheduled one.
 * Returns the id of the new change.
 */
export const schedulePrices: Action = (api, deps) => {
  api.route({
    ...endpoint(optionActions, 'POST /api/option/price_schedule'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { at, changes, replaces } = request.body
      checkNames(changes)
      const context = contextOf(deps, request)
      const { events, position } = accepted(
        await deps.core.actors.handle(
          optionsDecider,
          OPTIONS_STREAM,
          {
            type: 'SchedulePriceChange',
            at: at * 1_000,
            now: context.at,
            changes,
            ...(replaces === undefined ? {} : { replaces }),
          },
          context,
        ),
      )
      await waitUntilVisible(deps, reply, ['price-schedule'], position)
      const event = events.find(({ type }) => type === 'PriceChangeScheduled')
      return success({ id: event?.type === 'PriceChangeScheduled' ? event.data.id : 0 })
    },
  })
}

/**
 * Throws if an entry has no name. An entry of a fallback price needs no name, because a fallback
 * price is a single value.
 */
function checkNames(changes: readonly PlannedEntry[]): void {
  const at = changes.findIndex(({ option, name }) => name === '' && !option.startsWith('fallback_'))
  if (at < 0) return
  throw invalidField(`changes.${at}.name`, { zh: '不能为空', en: 'must not be empty' })
}

/** DELETE /api/option/price_schedule/{id}: cancels a scheduled price change. */
export const cancelPrices: Action = (api, deps) => {
  api.route({
    ...endpoint(optionActions, 'DELETE /api/option/price_schedule/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const command = { type: 'CancelPriceChange', id: idOf(request.params) } as const
      const { position } = await decideOptions(deps, request, command)
      await waitUntilVisible(deps, reply, ['price-schedule'], position)
      return done()
    },
  })
}

const INTERVAL_MS = 1_000
/**
 * The interval in milliseconds at which the job looks for scheduled price changes while there are
 * none.
 */
const IDLE_INTERVAL_MS = 5_000
/** The maximum interval in milliseconds. It is reached while no event is committed. */
const IDLE_MS_MAX = 30_000
const LEASE = 'price-changes'

type ClockCore = Pick<Core, 'actors' | 'leases' | 'log' | 'now' | 'store'>

/**
 * Starts the background job that applies price changes when they are due. Only the process that
 * holds the lease runs the job. Changes that became due earlier are applied at the start.
 */
export const startPriceSchedule = (core: ClockCore): HeldLease =>
  core.leases.hold(LEASE, async (_lease, lost) => {
    while (!lost.aborted) {
      const seen = core.store.commits?.position() ?? null
      const plannedCount = await applyDuePrices(core).catch((err: unknown) => {
        warnThrottled(
          core.log,
          { reason: reasonOf(err) },
          'applying scheduled prices failed and will be retried',
        )
      })
      const pause =
        plannedCount === 0
          ? { seen, everyMs: IDLE_INTERVAL_MS, idleMs: IDLE_MS_MAX }
          : { seen: null, everyMs: INTERVAL_MS, idleMs: INTERVAL_MS }
      await pauseUntilCommit(core.store, { ...pause, signal: lost })
    }
  })

/**
 * Applies all price changes that are due. The options stream records each applied change, so that
 * no change is applied twice, even by two processes or after a crash. Returns the number of
 * scheduled changes that this function found, whether they were due or not.
 */
export async function applyDuePrices({
  actors,
  now,
}: Pick<Core, 'actors' | 'now'>): Promise<number> {
  const planned = await actors.ask(optionsDecider, OPTIONS_STREAM, (state) =>
    [...state.planned.values()].map(({ id, at }) => ({ id, at })),
  )
  const at = now()
  const due = planned.filter((change) => change.at <= at)
  due.sort((one, other) => one.at - other.at || one.id - other.id)
  for (const { id } of due) {
    const context = { actor: 'system:price-changes', cause: `price-change-${id}`, at }
    const command = { type: 'ApplyPriceChange', id, now: at } as const
    await actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  }
  return planned.length
}

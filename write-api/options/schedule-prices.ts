import Type from 'typebox'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/faults.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type PlannedEntry, SchedulePrices } from '#write-api/contract/option.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'

/**
 * POST /api/option/price_schedule: plans a change of prices for a time, also in the place of one
 * that waits; answers its id.
 */
export const schedulePrices: Act = (api, deps) => {
  api.post(
    '/api/option/price_schedule',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Schedule a change of prices',
        body: SchedulePrices,
        response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
      },
    },
    async (request, reply) => {
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
      await visibleIn(deps, reply, ['price-schedule'], position)
      const event = events.find(({ type }) => type === 'PriceChangeScheduled')
      return success({ id: event?.type === 'PriceChangeScheduled' ? event.data.id : 0 })
    },
  )
}

/** Only a fallback price, which is one value, goes without a name. */
function checkNames(changes: readonly PlannedEntry[]): void {
  const at = changes.findIndex(({ option, name }) => name === '' && !option.startsWith('fallback_'))
  if (at < 0) return
  throw invalidField(`changes.${at}.name`, { zh: '不能为空', en: 'must not be empty' })
}

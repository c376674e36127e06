import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'

/** DELETE /api/option/price_schedule/{id}: a change that waits will not take effect. */
export const cancelPrices: Act = (api, deps) => {
  api.delete(
    '/api/option/price_schedule/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Cancel a scheduled change of prices',
        params: IdParams,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { position } = accepted(
        await deps.core.actors.handle(
          optionsDecider,
          OPTIONS_STREAM,
          { type: 'CancelPriceChange', id: idOf(request.params) },
          contextOf(deps, request),
        ),
      )
      await visibleIn(deps, reply, ['price-schedule'], position)
      return done()
    },
  )
}

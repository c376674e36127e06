import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'

/** POST /api/option/rest_model_ratio: model ratios as they are built in, in one append. */
export const resetModelRatios: Act = (api, deps) => {
  api.post(
    '/api/option/rest_model_ratio',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Reset the model ratios to the built-in ones', response: { 200: Done } },
    },
    async (request, reply) => {
      const { position } = accepted(
        await deps.core.actors.handle(
          optionsDecider,
          OPTIONS_STREAM,
          { type: 'ResetModelRatios' },
          contextOf(deps, request),
        ),
      )
      await visibleIn(deps, reply, ['options', 'price-history'], position)
      return done()
    },
  )
}

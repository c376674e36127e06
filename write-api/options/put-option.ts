import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/registry.ts'
import { onlyAdmin, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { PutOption } from '#write-api/contract/option.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { secretOption } from './secret-option.ts'

/** PUT /api/option/: sets one option, within its schema, by whoever may set that one. */
export const putOption: Act = (api, parts) => {
  api.put(
    '/api/option/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Set one option', body: PutOption, response: { 200: Done } },
    },
    async (request, reply) => {
      const { key, value } = request.body
      const option = OPTIONS.get(key)
      if (option === undefined) throw refused('UnknownOption', { key })
      if (principalOf(request).role < option.minimumRole) throw refused('OptionNotYours', { key })
      const context = contextOf(parts, request)
      const { position } = option.isSecret
        ? await secretOption(parts, key, value, context)
        : accepted(
            await parts.core.actors.handle(
              optionsDecider,
              OPTIONS_STREAM,
              { type: 'SetOption', key, value },
              context,
            ),
          )
      await visibleIn(parts, reply, ['options'], position)
      return done()
    },
  )
}

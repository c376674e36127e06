import Type from 'typebox'
import { Done } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { TelegramQuery } from '#write-api/contract/oauth.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { bound } from './callback.ts'
import { takeState, userOf } from './oauth-state.ts'
import { telegramProfile } from './telegram.ts'

/**
 * GET /api/oauth/telegram/bind: the widget may send the browser here, which then has no `User-Id`:
 * the state in its address says for whom it was shown, and a navigation ends on the own page.
 */
export const telegramBind: Act = (api, deps) => {
  api.get(
    '/api/oauth/telegram/bind',
    {
      onRequest: async (request) => {
        if ((await userOf(request, { mayLackHeader: true })) === null) throw fault('NotLoggedIn')
      },
      schema: {
        summary:
          'Bind the Telegram account that the widget names; needs the state it was shown with',
        querystring: TelegramQuery,
        response: { 200: Done, 302: Type.Null() },
      },
    },
    async (request, reply) => {
      const { state } = request.query
      if (state === undefined) throw refused('OAuthStateInvalid')
      const { bindTo } = await takeState(deps, request, state, null)
      if (bindTo === null) throw refused('OAuthStateInvalid')
      if (bindTo !== request.principal?.userId) throw fault('NotLoggedIn')
      const profile = await telegramProfile(deps, request.query)
      const answer = await bound(deps, request, reply, profile, bindTo)
      if (request.headers['sec-fetch-mode'] === 'navigate') return reply.redirect('/app/me', 302)
      return answer
    },
  )
}

import { success } from '#infra/http/envelope.ts'
import { refuseNavigation } from '#infra/http/origin.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { TelegramQuery } from '#write-api/contract/oauth.ts'
import { Entered } from '#write-api/contract/session.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { loginWithIdentity } from './identity-login.ts'
import { takeState } from './oauth-state.ts'
import { telegramProfile } from './telegram.ts'

/**
 * GET /api/oauth/telegram/login: a way in by what the widget says. The console always sends the
 * state that its widget was shown with, and no browser may open this address as a page: so no
 * link can log somebody in as somebody else.
 */
export const telegramLogin: Act = (api, deps) => {
  api.get(
    '/api/oauth/telegram/login',
    {
      onRequest: async (request) => refuseNavigation(request),
      schema: {
        summary: 'Log in, or register, by Telegram’s widget',
        querystring: TelegramQuery,
        response: { 200: Envelope(Entered) },
      },
    },
    async (request, reply) => {
      const { state } = request.query
      const journey = state === undefined ? null : await takeState(deps, request, state, null)
      const isLogin = journey === null || (journey.bindTo === null && journey.only === undefined)
      if (!isLogin) throw refused('OAuthStateInvalid')
      const profile = await telegramProfile(deps, request.query)
      return success(await loginWithIdentity(deps, request, reply, profile, journey ?? { aff: '' }))
    },
  )
}

import { success } from '#infra/http/envelope.ts'
import { refuseNavigation } from '#infra/http/origin.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { WeChatQuery } from '#write-api/contract/oauth.ts'
import { Entered } from '#write-api/contract/session.ts'
import type { Act } from '../act.ts'
import { loginWithIdentity } from './identity-login.ts'
import { weChatProfile } from './wechat.ts'

/**
 * GET /api/oauth/wechat: a way in by the code that the account of the QR code answers with. For the
 * console's own calls: a link would log whoever opens it in as the code's owner.
 */
export const weChatLogin: Act = (api, deps) => {
  api.get(
    '/api/oauth/wechat',
    {
      onRequest: async (request) => refuseNavigation(request),
      schema: {
        summary: 'Log in, or register, by a code from WeChat',
        querystring: WeChatQuery,
        response: { 200: Envelope(Entered) },
      },
    },
    async (request, reply) => {
      const { code, aff = '' } = request.query
      const profile = await weChatProfile(deps, request, code)
      return success(await loginWithIdentity(deps, request, reply, profile, { aff }))
    },
  )
}

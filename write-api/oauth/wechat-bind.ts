import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done } from '#infra/http/envelope.ts'
import { WeChatQuery } from '#write-api/contract/oauth.ts'
import type { Act } from '../act.ts'
import { requireRecent } from '../credentials/prove.ts'
import { bound } from './callback.ts'
import { weChatProfile } from './wechat.ts'

/** GET /api/oauth/wechat/bind: binds the WeChat account that a code is of. */
export const weChatBind: Act = (api, deps) => {
  api.get(
    '/api/oauth/wechat/bind',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Bind the WeChat account that a code is of',
        querystring: WeChatQuery,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      await requireRecent(deps, request)
      const profile = await weChatProfile(deps, request, request.query.code)
      return bound(deps, request, reply, profile, principalOf(request).userId)
    },
  )
}

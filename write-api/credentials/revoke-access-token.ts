import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { changeCredentials } from './credentials-of.ts'

/** DELETE /api/user/token: the system access token is void at once. */
export const revokeAccessToken: Act = (api, deps) => {
  api.delete(
    '/api/user/token',
    {
      onRequest: onlySession,
      schema: { summary: 'Revoke the system access token', response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const command = { type: 'RevokeAccessToken', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await visibleIn(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

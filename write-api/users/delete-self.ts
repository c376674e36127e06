import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { clearSessionCookie } from '#infra/http/session-cookie.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { forgetCredentials } from '../credentials/forget-credentials.ts'
import { requireRecent } from '../credentials/prove.ts'

/**
 * DELETE /api/user/self: the own account is deactivated and every session of it over. The console
 * has its name typed before; a super admin's can't be. Wants a recent login: nothing undoes it.
 */
export const deleteSelf: Act = (api, deps) => {
  api.delete(
    '/api/user/self',
    {
      onRequest: onlySession,
      schema: { summary: 'Delete the own account', response: { 200: Done } },
    },
    async (request, reply) => {
      await requireRecent(deps, request)
      const { userId } = principalOf(request)
      const command = { type: 'DeleteUser', actorRole: null } as const
      const context = contextOf(deps, request)
      const { actors } = deps.core
      const outcome = await actors.handle(userDecider, userStream(userId), command, context)
      const { position } = accepted(outcome)
      const forgotten = await forgetCredentials(deps, request, userId)
      await visibleIn(deps, reply, ['users', 'credentials'], Math.max(position, forgotten))
      clearSessionCookie(reply)
      return done()
    },
  )
}

import { isCodedError } from '#domain/shared/coded-error.ts'
import { userDecider, usernameDecider } from '#domain/users/decide.ts'
import { type Role, usernameStream, userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlyRootSession, onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { clearSessionCookie } from '#infra/http/session-and-device-cookies.ts'
import { beginErasure, forgetErasure } from '#infra/vault/unfinished-erasures.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { revokeCredentials } from '../credentials/read-and-change-credentials.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { releaseSteps } from './bind-and-unbind-identities.ts'
import { finishErasure } from './finish-erasures.ts'
import { userError } from './user-errors.ts'
import { nameKeyOf } from './user-names.ts'

/**
 * POST /api/user/erase: deactivates a user and destroys the data key with which all texts about the
 * user are encrypted. After that, the texts are unreadable. Numbers are kept. As a confirmation,
 * the request must contain the username. If the user is already erased, the name is not checked,
 * and an interrupted erasure is continued.
 */
export const eraseUser: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/erase'),
    onRequest: onlyRootSession,
    handler: async (request, reply) => {
      const { id, username } = request.body
      const actorRole = principalOf(request).role as Role
      const { actors } = deps.core
      const stream = userStream(id)
      const command = { type: 'EraseUser', actorRole } as const
      const position = await deps.runExclusive(stream, async () => {
        const state = await actors.stateOf(userDecider, stream)
        const decided = userDecider.decide(command, state)
        if (isCodedError(decided)) throw toHttpError(decided)
        // If the user is already erased, the name is gone and can't be checked. In this case, the
        // request may continue an interrupted erasure.
        const isErased = state.user?.isErased === true
        const name = isErased ? '' : await checkName(deps, id, username)
        const context = contextOf(deps, request)
        const erase = { decider: userDecider, stream, command }
        await beginErasure(deps.core.pg, id)
        deps.erasureSignal.wake()
        // After the identities are released, their owner can register as a new user.
        const released = releaseSteps(id, state.user?.identities ?? {})
        const steps = [erase, ...released, ...releaseName(deps, id, name)]
        const outcome = await actors.handleTogether(steps, context)
        if (!outcome.isDone) await forgetErasure(deps.core.pg, id)
        accepted(outcome)
        // NOTE: if a later step fails, the background job or another request of the admin continues
        // the erasure.
        return await finishErasure(deps, request.server.gate.sessions, id, context)
      })
      // The job also removes old rows from the database's files after the erasure is finished.
      deps.erasureSignal.wake()
      reply.header('x-position', String(position))
      return done()
    },
  })
}

/** Returns the stored username. Throws if `input` is another name. */
async function checkName({ core }: Deps, userId: number, input: string): Promise<string> {
  const user = await findUser(core.db, userId)
  if (user === null) throw userError('UserUnknown')
  if (input.normalize('NFKC').trim() !== user.username) throw userError('ErasedNameDiffers')
  return user.username
}

function releaseName({ core }: Deps, userId: number, name: string): AnyStep[] {
  if (name === '') return []
  const nameKey = nameKeyOf(core.vault, name)
  const command = { type: 'ReleaseUsername', nameKey, userId }
  return [{ decider: usernameDecider, stream: usernameStream(nameKey), command }]
}

/**
 * DELETE /api/user/self: permanently deactivates the caller's account and ends all sessions. The
 * caller must have logged in or proved their identity within the last half hour. A super admin
 * cannot be deleted.
 */
export const deleteSelf: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'DELETE /api/user/self'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      await requireRecentLogin(deps, request)
      const { userId } = principalOf(request)
      const command = { type: 'DeleteUser', actorRole: null } as const
      const context = contextOf(deps, request)
      const { actors } = deps.core
      const outcome = await actors.handle(userDecider, userStream(userId), command, context)
      const { position } = accepted(outcome)
      const { sessions } = request.server.gate
      const revokedPosition = await revokeCredentials(deps, sessions, userId, context)
      await waitUntilVisible(
        deps,
        reply,
        ['users', 'credentials'],
        Math.max(position, revokedPosition),
      )
      clearSessionCookie(reply)
      return done()
    },
  })
}

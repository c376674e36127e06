import { isCodedError } from '#domain/shared/coded-error.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, usernameStream, userStream } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlyRootSession, onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { clearSessionCookie } from '#infra/http/session-cookie.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { EraseUser } from '../contract/users.ts'
import { forgetCredentials } from '../credentials/credentials-of.ts'
import { requireRecent } from '../credentials/proof.ts'
import { toHttpError } from '../error-catalogue.ts'
import { forgetMessages } from '../messages/delete-message.ts'
import { forgetTokenKeys } from '../tokens/delete-tokens.ts'
import { releaseSteps } from './bind-identity.ts'
import { userError } from './user-errors.ts'
import { nameKeyOf } from './user-names.ts'

/**
 * POST /api/user/erase: destroys the key of every text about a user, for good, and deactivates the
 * account; its numbers stay. Whoever asks types the username.
 */
export const eraseUser: Action = (api, deps) => {
  api.post(
    '/api/user/erase',
    {
      onRequest: onlyRootSession,
      schema: {
        summary: 'Erase the personal data of a user, for good; the typed username confirms it',
        body: EraseUser,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { id, username } = request.body
      const actorRole = principalOf(request).role as Role
      const { actors, vault } = deps.core
      const stream = userStream(id)
      const command = { type: 'EraseUser', actorRole } as const
      const position = await deps.runExclusive(stream, async () => {
        const state = await actors.stateOf(userDecider, stream)
        const decided = userDecider.decide(command, state)
        if (isCodedError(decided)) throw toHttpError(decided)
        const name = await checkName(deps, id, username)
        // NOTE: the event last: what fails before it leaves a user who can be erased again.
        await vault.destroyUser(id)
        await forgetCredentials(deps, request, id)
        await forgetTokenKeys(deps.core, id)
        await forgetMessages(deps, request, id)
        const context = contextOf(deps, request)
        const erase = { decider: userDecider, stream, command }
        // Whoever was erased may come again, as somebody new.
        const released = releaseSteps(id, state.user?.identities ?? {})
        const steps = [erase, ...released, ...releaseName(deps, id, name)]
        return accepted(await actors.handleTogether(steps, context)).position
      })
      await waitUntilVisible(deps, reply, ['users', 'tokens', 'credentials', 'messages'], position)
      return done()
    },
  )
}

/** Answers it. One that was erased has no name any more: it is empty. */
async function checkName({ core }: Deps, userId: number, typed: string): Promise<string> {
  const user = await findUser(core.db, userId)
  if (user === null) throw userError('UserUnknown')
  if (typed.normalize('NFKC').trim() !== user.username) throw userError('ErasedNameDiffers')
  return user.username
}

function releaseName({ core }: Deps, userId: number, name: string): AnyStep[] {
  if (name === '') return []
  const nameKey = nameKeyOf(core.vault, name)
  const command = { type: 'ReleaseUsername', nameKey, userId }
  return [{ decider: usernameDecider, stream: usernameStream(nameKey), command }]
}

/**
 * DELETE /api/user/self: the own account is deactivated and every session of it over. The console
 * has its name typed before; a super admin's can't be. Wants a recent login: nothing undoes it.
 */
export const deleteSelf: Action = (api, deps) => {
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
      await waitUntilVisible(deps, reply, ['users', 'credentials'], Math.max(position, forgotten))
      clearSessionCookie(reply)
      return done()
    },
  )
}

import { isRefusal } from '#domain/shared/refusal.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, userStream } from '#domain/user/events.ts'
import { onlyRootSession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { EraseUser } from '#write-api/contract/user.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { forgetCredentials } from '../credentials/forget-credentials.ts'
import { forgetMessages } from '../messages/forget-messages.ts'
import { type RefusalCode, refused } from '../refusals.ts'
import { forgetTokenKeys } from '../tokens/forget-token-keys.ts'
import { releaseSteps } from './bind-identity.ts'

/**
 * POST /api/user/erase: destroys the key of every text about a user, for good, and deactivates the
 * account; its numbers stay. Whoever asks types the username.
 */
export const eraseUser: Act = (api, parts) => {
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
      const { actors, vault } = parts.core
      const stream = userStream(id)
      const command = { type: 'EraseUser', actorRole } as const
      const position = await parts.turns(stream, async () => {
        const state = await actors.stateOf(userDecider, stream)
        const decided = userDecider.decide(command, state)
        if (isRefusal(decided)) throw refused(decided.refused as RefusalCode, decided.details)
        await checkName(parts, id, username)
        // NOTE: the event last: what fails before it leaves a user who can be erased again.
        await vault.destroyUser(id)
        await forgetCredentials(parts, request, id)
        await forgetTokenKeys(parts.core, id)
        await forgetMessages(parts, request, id)
        const context = contextOf(parts, request)
        const erase = { decider: userDecider, stream, command }
        // Whoever was erased may come again, as somebody new.
        const steps = [erase, ...releaseSteps(id, state.user?.identities ?? {})]
        return accepted(await actors.handleTogether(steps, context)).position
      })
      await visibleIn(parts, reply, ['users', 'tokens', 'credentials', 'messages'], position)
      return done()
    },
  )
}

/** One that was erased has no name any more. */
async function checkName({ core }: Parts, userId: number, typed: string): Promise<void> {
  const user = await findUser(core.db, userId)
  if (user === null) throw refused('UserUnknown')
  if (typed.normalize('NFKC').trim() !== user.username) throw refused('ErasedNameDiffers')
}

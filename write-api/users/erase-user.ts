import { isRefusal } from '#domain/shared/refusal.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, usernameStream, userStream } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
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
import { nameKeyOf } from './username.ts'

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
        const name = await checkName(parts, id, username)
        // NOTE: the event last: what fails before it leaves a user who can be erased again.
        await vault.destroyUser(id)
        await forgetCredentials(parts, request, id)
        await forgetTokenKeys(parts.core, id)
        await forgetMessages(parts, request, id)
        const context = contextOf(parts, request)
        const erase = { decider: userDecider, stream, command }
        // Whoever was erased may come again, as somebody new.
        const released = releaseSteps(id, state.user?.identities ?? {})
        const steps = [erase, ...released, ...releaseName(parts, id, name)]
        return accepted(await actors.handleTogether(steps, context)).position
      })
      await visibleIn(parts, reply, ['users', 'tokens', 'credentials', 'messages'], position)
      return done()
    },
  )
}

/** Answers it. One that was erased has no name any more: it is empty. */
async function checkName({ core }: Parts, userId: number, typed: string): Promise<string> {
  const user = await findUser(core.db, userId)
  if (user === null) throw refused('UserUnknown')
  if (typed.normalize('NFKC').trim() !== user.username) throw refused('ErasedNameDiffers')
  return user.username
}

function releaseName({ core }: Parts, userId: number, name: string): AnyStep[] {
  if (name === '') return []
  const nameKey = nameKeyOf(core.vault, name)
  const command = { type: 'ReleaseUsername', nameKey, userId }
  return [{ decider: usernameDecider, stream: usernameStream(nameKey), command }]
}

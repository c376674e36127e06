import type { FastifyRequest } from 'fastify'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { RemovePasskey, RenamePasskey } from '../contract/credentials.ts'
import { enabledLoginMethods, whileWaysChange } from '../users/login-methods.ts'
import { changeCredentials } from './credentials-of.ts'
import { hasPasskeyAlone, passkeyName } from './passkeys.ts'
import { prove } from './proof.ts'

/** PUT /api/user/passkeys: another name for one of the own passkeys. */
export const renamePasskey: Action = (api, deps) => {
  api.put(
    '/api/user/passkeys',
    {
      onRequest: onlySession,
      schema: { summary: 'Rename a passkey', body: RenamePasskey, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId } = request.body
      const name = await deps.core.vault.seal(userId, passkeyName(request.body.name))
      const command = { type: 'RenamePasskey', userId, passkeyId, name } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

/** POST /api/user/passkeys/remove: for a proof, unless it is the last way in. */
export const removePasskey: Action = (api, deps) => {
  api.post(
    '/api/user/passkeys/remove',
    {
      onRequest: onlySession,
      schema: { summary: 'Remove a passkey', body: RemovePasskey, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId, ...proof } = request.body
      await prove(deps, request, proof)
      const outcome = await deps.runExclusive(userStream(userId), () =>
        whileWaysChange(async () => {
          const steps = await stepsToRemove(deps, request, passkeyId)
          return deps.core.actors.handleTogether(steps, contextOf(deps, request))
        }),
      )
      await waitUntilVisible(deps, reply, ['credentials'], accepted(outcome).position)
      return done()
    },
  )
}

/** NOTE: the passkey's own part before the user's, which says that it is gone. */
async function stepsToRemove(
  deps: Deps,
  request: FastifyRequest,
  passkeyId: number,
): Promise<AnyStep[]> {
  const { actors, db } = deps.core
  const { userId, role } = principalOf(request)
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  const byAnother = await hasPasskeyAlone(deps, request, passkeyId)
  const { values } = await allOptions(db)
  const giveUp = {
    type: 'GiveUpPasskeys',
    enabledLoginMethods: [...enabledLoginMethods(values, role), ...(byAnother ? ['passkey'] : [])],
    ifWaysGone: user?.waysGone ?? 0,
  }
  return [
    {
      decider: credentialsDecider,
      stream: credentialsStream(userId),
      command: { type: 'RemovePasskey', userId, passkeyId },
    },
    { decider: userDecider, stream, command: giveUp },
  ]
}

import type { FastifyRequest } from 'fastify'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { RemovePasskey } from '#write-api/contract/credentials.ts'
import { type Act, accepted, contextOf, type Deps, visibleIn } from '../act.ts'
import { enabledLoginMethods } from '../users/enabled-login-methods.ts'
import { whileWaysChange } from '../users/while-ways-change.ts'
import { hasPasskeyAlone } from './passkey-way-in.ts'
import { prove } from './prove.ts'

/** POST /api/user/passkeys/remove: for a proof, unless it is the last way in. */
export const removePasskey: Act = (api, deps) => {
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
      const outcome = await deps.turns(userStream(userId), () =>
        whileWaysChange(async () => {
          const steps = await stepsToRemove(deps, request, passkeyId)
          return deps.core.actors.handleTogether(steps, contextOf(deps, request))
        }),
      )
      await visibleIn(deps, reply, ['credentials'], accepted(outcome).position)
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

import type { FastifyRequest } from 'fastify'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { credentialActions } from '../contract/credentials.ts'
import {
  enabledLoginMethods,
  retryWhileLoginMethodsChange,
} from '../users/enabled-login-methods.ts'
import { verifyProof } from './identity-proof.ts'
import { canLogInWithPasskey, passkeyName } from './passkeys.ts'
import { changeCredentials } from './read-and-change-credentials.ts'

/** PUT /api/user/passkeys: renames one of the caller's passkeys. */
export const renamePasskey: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'PUT /api/user/passkeys'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId } = request.body
      const name = await deps.core.vault.seal(userId, passkeyName(request.body.name))
      const command = { type: 'RenamePasskey', userId, passkeyId, name } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  })
}

/**
 * POST /api/user/passkeys/remove: removes a passkey. Requires a proof of identity. The last login
 * method cannot be removed.
 */
export const removePasskey: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/passkeys/remove'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId, ...proof } = request.body
      await verifyProof(deps, request, proof)
      const outcome = await deps.runExclusive(userStream(userId), () =>
        retryWhileLoginMethodsChange(async () => {
          const steps = await stepsToRemove(deps, request, passkeyId)
          return deps.core.actors.handleTogether(steps, contextOf(deps, request))
        }),
      )
      await waitUntilVisible(deps, reply, ['credentials'], accepted(outcome).position)
      return done()
    },
  })
}

/**
 * Returns the steps (commands to single streams) that remove a passkey. NOTE: the step for the
 * credentials stream comes before the step for the user's stream.
 */
async function stepsToRemove(
  deps: Deps,
  request: FastifyRequest,
  passkeyId: number,
): Promise<AnyStep[]> {
  const { actors, db } = deps.core
  const { userId, role } = principalOf(request)
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  const canUseAnother = await canLogInWithPasskey(deps, request, passkeyId)
  const { values } = await allOptions(db)
  const dropPasskeys = {
    type: 'DropPasskeys',
    enabledLoginMethods: [
      ...enabledLoginMethods(values, role),
      ...(canUseAnother ? ['passkey'] : []),
    ],
    expectedRemovedLoginMethods: user?.removedLoginMethods ?? 0,
  }
  return [
    {
      decider: credentialsDecider,
      stream: credentialsStream(userId),
      command: { type: 'RemovePasskey', userId, passkeyId },
    },
    { decider: userDecider, stream, command: dropPasskeys },
  ]
}

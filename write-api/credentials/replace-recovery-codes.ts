import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { credentialActions } from '../contract/credentials.ts'
import { verifyProof } from './identity-proof.ts'
import { changeCredentials } from './read-and-change-credentials.ts'
import { issuedCodes, newRecoveryCodes } from './recovery-codes.ts'

/** POST /api/user/recovery_codes: replaces the recovery codes with ten new ones. */
export const replaceRecoveryCodes: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/recovery_codes'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      await verifyProof(deps, request, request.body)
      const recovery = newRecoveryCodes(deps.core.vault, userId)
      const { codeHashes } = recovery
      const command = { type: 'ReplaceRecoveryCodes', userId, codeHashes } as const
      const { events, position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: issuedCodes(events, recovery) })
    },
  })
}

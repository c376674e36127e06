import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ProofOnly, RecoveryCodes } from '#write-api/contract/credentials.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { changeCredentials } from './credentials-of.ts'
import { verifyProof } from './proof.ts'
import { issuedCodes, newRecoveryCodes } from './recovery-codes.ts'

/** POST /api/user/recovery_codes: replaces the recovery codes with ten new ones. */
export const replaceRecoveryCodes: Action = (api, deps) => {
  api.post(
    '/api/user/recovery_codes',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Replace the recovery codes',
        body: ProofOnly,
        response: { 200: Envelope(RecoveryCodes) },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      await verifyProof(deps, request, request.body)
      const recovery = newRecoveryCodes(deps.core.vault, userId)
      const { codeHashes } = recovery
      const command = { type: 'ReplaceRecoveryCodes', userId, codeHashes } as const
      const { events, position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: issuedCodes(events, recovery) })
    },
  )
}

import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ProofOnly, RecoveryCodes } from '#write-api/contract/credentials.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { changeCredentials } from './credentials-of.ts'
import { prove } from './proof.ts'
import { codesMadeBy, newRecoveryCodes } from './recovery-codes.ts'

/** POST /api/user/recovery_codes: ten new ones, in place of those of before. */
export const replaceRecoveryCodes: Action = (api, deps) => {
  api.post(
    '/api/user/recovery_codes',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Make new recovery codes',
        body: ProofOnly,
        response: { 200: Envelope(RecoveryCodes) },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      await prove(deps, request, request.body)
      const made = newRecoveryCodes(deps.core.vault, userId)
      const { codeHashes } = made
      const command = { type: 'ReplaceRecoveryCodes', userId, codeHashes } as const
      const { events, position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: codesMadeBy(events, made) })
    },
  )
}

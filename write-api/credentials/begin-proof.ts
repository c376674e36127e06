import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions } from '#write-api/contract/credentials.ts'
import type { Act } from '../act.ts'
import { askPasskey } from './ask-passkey.ts'

/** POST /api/user/passkeys/proof: what the browser asks for an own passkey by, as proof. */
export const beginProof: Act = (api, deps) => {
  api.post(
    '/api/user/passkeys/proof',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Begin to prove by a passkey who asks, for acts that want a proof',
        response: { 200: Envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const { userId } = principalOf(request)
      const purpose = proofPurpose(userId)
      const asked = { userId, purpose, userVerification: 'required' } as const
      return success({ options: await askPasskey(deps, request, asked) })
    },
  )
}

/** A challenge of a login is none for a proof. */
export const proofPurpose = (userId: number): string => `prove:${userId}`

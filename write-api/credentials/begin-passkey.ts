import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions, ProofOnly } from '#write-api/contract/credentials.ts'
import type { Act } from '../act.ts'
import { newChallenge } from './challenges.ts'
import { credentialsOf } from './credentials-of.ts'
import { userHandleOf } from './passkey-handle.ts'
import { passkeysAt } from './passkey-record.ts'
import { passkeySite } from './passkey-site.ts'
import { proveAnew } from './prove.ts'
import { ALGORITHMS, webauthn } from './webauthn.ts'

/** POST /api/user/passkeys/begin: what the browser makes a passkey by. */
export const beginPasskey: Act = (api, deps) => {
  api.post(
    '/api/user/passkeys/begin',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Begin to add a passkey',
        body: ProofOnly,
        response: { 200: Envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const { userId, username } = principalOf(request)
      const site = await passkeySite(deps, request)
      await proveAnew(deps, request, request.body)
      const known = await credentialsOf(deps, userId)
      const { generateRegistrationOptions } = await webauthn()
      const options = await generateRegistrationOptions({
        rpName: site.name,
        rpID: site.id,
        userName: username,
        userID: userHandleOf(userId),
        challenge: await newChallenge(deps, request, `add:${userId}`),
        attestationType: 'none',
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: await passkeysAt(deps.core.vault, userId, known, site.id),
        // One that is not found without its user's name would be no way in.
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      })
      return success({ options })
    },
  )
}

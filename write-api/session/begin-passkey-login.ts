import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions } from '#write-api/contract/credentials.ts'
import type { Act } from '../act.ts'
import { newChallenge } from '../credentials/challenges.ts'
import { passkeySite } from '../credentials/passkey-site.ts'
import { webauthn } from '../credentials/webauthn.ts'

/** POST /api/user/login/passkey/begin: what the browser asks for any passkey of this site by. */
export const beginPasskeyLogin: Act = (api, deps) => {
  api.post(
    '/api/user/login/passkey/begin',
    {
      schema: {
        summary: 'Begin to log in with a passkey',
        response: { 200: Envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const site = await passkeySite(deps, request)
      const { generateAuthenticationOptions } = await webauthn()
      const options = await generateAuthenticationOptions({
        rpID: site.id,
        challenge: await newChallenge(deps, request, 'login'),
        userVerification: 'required',
      })
      return success({ options })
    },
  )
}

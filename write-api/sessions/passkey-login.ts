import { contextOfUser } from '#infra/http/command-context.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { findUser } from '#projections/users/query.ts'
import type { Action } from '../action.ts'
import { loginActions } from '../contract/login.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'
import { issueChallenge, passkeySite, userIdOfHandle, webauthn } from '../credentials/passkeys.ts'
import { verifyPasskeySignature } from '../credentials/verify-passkey-signature.ts'
import { countFailures, subjectOf } from './record-failed-logins.ts'
import { startUserSession } from './start-session-or-require-second-factor.ts'

/**
 * POST /api/user/login/passkey/begin: returns the WebAuthn options for any passkey of this site.
 */
export const beginPasskeyLogin: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'POST /api/user/login/passkey/begin'),
    handler: async (request) => {
      const site = await passkeySite(deps, request)
      const { generateAuthenticationOptions } = await webauthn()
      const options = await generateAuthenticationOptions({
        rpID: site.id,
        challenge: await issueChallenge(deps, request, 'login'),
        userVerification: 'required',
      })
      return success({ options })
    },
  })
}

/**
 * POST /api/user/login/passkey: signs a user in with a passkey. No second step is needed, because
 * the authenticator has verified the user by a PIN or biometrics.
 */
export const passkeyLogin: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'POST /api/user/login/passkey'),
    handler: async (request, reply) => {
      const { passkey } = request.body
      const userId = userIdOfHandle(passkey.response.userHandle ?? '')
      const user = userId === null ? null : await findUser(deps.core.db, userId)
      const who = () => subjectOf(user)
      return countFailures(deps, request, who, async () => {
        if (user === null || user.isDeleted) throw credentialsError('PasskeyFailed')
        const context = await contextOfUser(deps.core, request, user.id)
        const check = { userId: user.id, passkey, purpose: 'login', isSoleFactor: true }
        await verifyPasskeySignature(deps, request, check, context)
        return success(await startUserSession(deps, request, reply, user))
      })
    },
  })
}

import type { FastifyRequest } from 'fastify'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { credentialActions, type PasskeyRegistration } from '../contract/credentials.ts'
import { credentialsError } from './credentials-errors.ts'
import { requireProofOrRecentLogin } from './identity-proof.ts'
import {
  ALGORITHMS,
  consumeChallenge,
  issueChallenge,
  type PasskeyRecord,
  passkeyName,
  passkeySite,
  passkeysOfSite,
  userHandleOf,
  webauthn,
} from './passkeys.ts'
import { changeCredentials, credentialsOf } from './read-and-change-credentials.ts'
import { issuedCodes, newRecoveryCodes } from './totp-and-recovery-codes.ts'

/** POST /api/user/passkeys/begin: returns the WebAuthn options to create a passkey. */
export const beginPasskey: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/passkeys/begin'),
    onRequest: onlySession,
    handler: async (request) => {
      const { userId, username } = principalOf(request)
      const site = await passkeySite(deps, request)
      await requireProofOrRecentLogin(deps, request, request.body)
      const credentials = await credentialsOf(deps, userId)
      const { generateRegistrationOptions } = await webauthn()
      const options = await generateRegistrationOptions({
        rpName: site.name,
        rpID: site.id,
        userName: username,
        userID: userHandleOf(userId),
        challenge: await issueChallenge(deps, request, `add:${userId}`),
        attestationType: 'none',
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: await passkeysOfSite(deps.core.vault, userId, credentials, site.id),
        // The passkey must be discoverable, because a login with a passkey starts without a
        // username.
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      })
      return success({ options })
    },
  })
}

/**
 * POST /api/user/passkeys: stores a passkey. If it is the user's first second factor, the response
 * contains recovery codes.
 */
export const addPasskey: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/passkeys'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { vault } = deps.core
      const { userId } = principalOf(request)
      const name = passkeyName(request.body.name)
      const { record, counter } = await verifyRegistration(deps, request, request.body.passkey)
      const recovery = newRecoveryCodes(vault, userId)
      const { events, position } = await changeCredentials(
        deps,
        {
          type: 'AddPasskey',
          userId,
          name: await vault.seal(userId, name),
          credential: await vault.seal(userId, JSON.stringify(record)),
          credentialHash: vault.keyedHash('passkey', record.id),
          counter,
          codeHashes: recovery.codeHashes,
        },
        contextOf(deps, request),
      )
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: issuedCodes(events, recovery) })
    },
  })
}

async function verifyRegistration(
  deps: Deps,
  request: FastifyRequest,
  passkey: PasskeyRegistration,
): Promise<{ record: PasskeyRecord; counter: number }> {
  const site = await passkeySite(deps, request)
  try {
    const { verifyRegistrationResponse } = await webauthn()
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...passkey, clientExtensionResults: {} } as never,
      expectedChallenge: consumeChallenge(deps, `add:${principalOf(request).userId}`),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (registrationInfo === undefined) throw new Error('not verified')
    const { credential, userVerified: isUnlockable } = registrationInfo
    const { id, publicKey, counter } = credential
    const { transports = [] } = passkey.response
    const key = Buffer.from(publicKey).toString('base64url')
    return { record: { id, publicKey: key, transports, site: site.id, isUnlockable }, counter }
  } catch (error) {
    deps.core.log.debug({ err: error }, 'verifying a new passkey failed')
    throw credentialsError('PasskeyFailed')
  }
}

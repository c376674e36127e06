import type { FastifyRequest } from 'fastify'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import {
  AddPasskey,
  PasskeyOptions,
  type PasskeyRegistration,
  ProofOnly,
  RecoveryCodes,
} from '../contract/credentials.ts'
import { credentialsError } from './credentials-errors.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'
import {
  ALGORITHMS,
  newChallenge,
  type PasskeyRecord,
  passkeyName,
  passkeySite,
  passkeysAt,
  takeChallenge,
  userHandleOf,
  webauthn,
} from './passkeys.ts'
import { proveAnew } from './proof.ts'
import { codesMadeBy, newRecoveryCodes } from './recovery-codes.ts'

/** POST /api/user/passkeys/begin: what the browser makes a passkey by. */
export const beginPasskey: Action = (api, deps) => {
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

/** POST /api/user/passkeys: keeps the passkey that a browser made; maybe recovery codes with it. */
export const addPasskey: Action = (api, deps) => {
  api.post(
    '/api/user/passkeys',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Add a passkey',
        body: AddPasskey,
        response: { 200: Envelope(RecoveryCodes) },
      },
    },
    async (request, reply) => {
      const { vault } = deps.core
      const { userId } = principalOf(request)
      const name = passkeyName(request.body.name)
      const { record, counter } = await checked(deps, request, request.body.passkey)
      const made = newRecoveryCodes(vault, userId)
      const { events, position } = await changeCredentials(
        deps,
        {
          type: 'AddPasskey',
          userId,
          name: await vault.seal(userId, name),
          credential: await vault.seal(userId, JSON.stringify(record)),
          credentialHash: vault.keyedHash('passkey', record.id),
          counter,
          codeHashes: made.codeHashes,
        },
        contextOf(deps, request),
      )
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: codesMadeBy(events, made) })
    },
  )
}

async function checked(
  deps: Deps,
  request: FastifyRequest,
  passkey: PasskeyRegistration,
): Promise<{ record: PasskeyRecord; counter: number }> {
  const site = await passkeySite(deps, request)
  try {
    const { verifyRegistrationResponse } = await webauthn()
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...passkey, clientExtensionResults: {} } as never,
      expectedChallenge: takeChallenge(deps, `add:${principalOf(request).userId}`),
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
    deps.core.log.debug({ err: error }, 'a new passkey was refused')
    throw credentialsError('PasskeyFailed')
  }
}

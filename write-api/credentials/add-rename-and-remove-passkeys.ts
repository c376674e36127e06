import type { FastifyRequest } from 'fastify'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { credentialActions, type PasskeyRegistration } from '../contract/credentials.ts'
import {
  enabledLoginMethods,
  retryWhileLoginMethodsChange,
} from '../users/enabled-login-methods-and-removal-retry.ts'
import { credentialsError } from './credentials-errors.ts'
import { requireProofOrRecentLogin, verifyProof } from './identity-proof.ts'
import {
  ALGORITHMS,
  canLogInWithPasskey,
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
 * POST /api/user/passkeys: stores a passkey. If the passkey is the user's first second factor, the
 * response contains recovery codes.
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

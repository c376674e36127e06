import { optionValue } from '#domain/options/option-registry.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { credentialActions } from '../contract/credentials.ts'
import { credentialsError } from './credentials-errors.ts'
import { requireProofOrRecentLogin, verifyProof } from './identity-proof.ts'
import { changeCredentials, credentialsOf } from './read-and-change-credentials.ts'
import {
  deleteNewTotpSecret,
  issuedCodes,
  isTotpCode,
  newRecoveryCodes,
  newTotpSecret,
  readNewTotpSecret,
  storeNewTotpSecret,
  totpOwner,
  totpStep,
  totpUri,
} from './totp-and-recovery-codes.ts'
import { limitProofAttempts } from './verify-second-factor-code.ts'

/**
 * POST /api/user/totp/begin: returns a new secret for an authenticator app. The app is enabled when
 * the user confirms the secret with a code.
 */
export const beginTotp: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/totp/begin'),
    onRequest: onlySession,
    handler: async (request) => {
      const { userId, username } = principalOf(request)
      const { totp } = await credentialsOf(deps, userId)
      if (totp !== null) throw credentialsError('TotpAlreadyOn')
      await requireProofOrRecentLogin(deps, request, request.body)
      const secret = newTotpSecret()
      await storeNewTotpSecret(deps, userId, secret)
      const { values } = await allOptions(deps.core.db)
      return success({ secret, uri: totpUri(secret, optionValue(values, 'SystemName'), username) })
    },
  })
}

/**
 * POST /api/user/totp: enables the authenticator app if the code is correct. Returns new recovery
 * codes, or an empty list if the user already has another second factor.
 */
export const confirmTotp: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/totp'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { vault, now } = deps.core
      const { userId } = principalOf(request)
      const secret = await readNewTotpSecret(deps, userId)
      if (secret === null) throw credentialsError('TotpOfferOver')
      const succeeded = await limitProofAttempts(deps, request)
      const code = request.body.code.replace(/\s/g, '')
      const step = isTotpCode(code) ? totpStep(secret, code, now()) : null
      if (step === null) throw credentialsError('CodeWrong')
      succeeded()
      const recovery = newRecoveryCodes(vault, userId)
      const secretRef = await vault.putSecret('totp', totpOwner(userId), secret)
      const { codeHashes } = recovery
      const command = { type: 'EnableTotp', userId, secretRef, step, codeHashes } as const
      const { events, position } = await changeCredentials(
        deps,
        command,
        contextOf(deps, request),
      ).catch(async (error: unknown) => {
        // NOTE: after any other error, the secret is kept. Such an error may follow a committed
        // append, and in this case the app is enabled and needs the secret.
        if (error instanceof HttpError) await vault.deleteSecret(secretRef)
        throw error
      })
      await deleteNewTotpSecret(deps, userId)
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: issuedCodes(events, recovery) })
    },
  })
}

/**
 * POST /api/user/totp/disable: disables the authenticator app and deletes its secret. Requires a
 * proof of identity.
 */
export const disableTotp: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'POST /api/user/totp/disable'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      await verifyProof(deps, request, request.body)
      const { totp } = await credentialsOf(deps, userId)
      const command = { type: 'DisableTotp', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      if (totp !== null) await deps.core.vault.deleteSecret(totp.secretRef)
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  })
}

/**
 * POST /api/user/recovery_codes: replaces the recovery codes with ten new ones. Requires a proof of
 * identity.
 */
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

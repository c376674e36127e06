import { optionValue } from '#domain/options/registry.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done, success } from '#infra/http/envelope.ts'
import { HttpError } from '#infra/http/http-errors.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { ConfirmTotp, ProofOnly, RecoveryCodes, TotpOffer } from '../contract/credentials.ts'
import { credentialsError } from './credentials-errors.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'
import { prove, proveAnew } from './proof.ts'
import { codesMadeBy, newRecoveryCodes } from './recovery-codes.ts'
import {
  endTotpOffer,
  isTotpCode,
  keepTotpOffer,
  newTotpSecret,
  totpOffer,
  totpOwner,
  totpStep,
  totpUri,
} from './totp.ts'
import { tryProof } from './verify-code.ts'

/** POST /api/user/totp/begin: a secret for an authenticator app, until a code of it confirms it. */
export const beginTotp: Action = (api, deps) => {
  api.post(
    '/api/user/totp/begin',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Offer a secret for an authenticator app',
        body: ProofOnly,
        response: { 200: Envelope(TotpOffer) },
      },
    },
    async (request) => {
      const { userId, username } = principalOf(request)
      const { totp } = await credentialsOf(deps, userId)
      if (totp !== null) throw credentialsError('TotpAlreadyOn')
      await proveAnew(deps, request, request.body)
      const secret = newTotpSecret()
      await keepTotpOffer(deps, userId, secret)
      const { values } = await allOptions(deps.core.db)
      return success({ secret, uri: totpUri(secret, optionValue(values, 'SystemName'), username) })
    },
  )
}

/** POST /api/user/totp: a code of the offered secret turns it on; answers the recovery codes. */
export const confirmTotp: Action = (api, deps) => {
  api.post(
    '/api/user/totp',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Turn on codes of an authenticator app',
        body: ConfirmTotp,
        response: { 200: Envelope(RecoveryCodes) },
      },
    },
    async (request, reply) => {
      const { vault, now } = deps.core
      const { userId } = principalOf(request)
      const secret = await totpOffer(deps, userId)
      if (secret === null) throw credentialsError('TotpOfferOver')
      const succeeded = await tryProof(deps, request)
      const code = request.body.code.replace(/\s/g, '')
      const step = isTotpCode(code) ? totpStep(secret, code, now()) : null
      if (step === null) throw credentialsError('CodeWrong')
      succeeded()
      const made = newRecoveryCodes(vault, userId)
      const secretRef = await vault.putSecret('totp', totpOwner(userId), secret)
      const { codeHashes } = made
      const command = { type: 'EnableTotp', userId, secretRef, step, codeHashes } as const
      const { events, position } = await changeCredentials(
        deps,
        command,
        contextOf(deps, request),
      ).catch(async (error: unknown) => {
        // NOTE: an append whose outcome nobody knows may have turned it on: by this secret.
        if (error instanceof HttpError) await vault.deleteSecret(secretRef)
        throw error
      })
      await endTotpOffer(deps, userId)
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success({ recovery_codes: codesMadeBy(events, made) })
    },
  )
}

/** POST /api/user/totp/disable: for a code or the password; its secret is gone with it. */
export const disableTotp: Action = (api, deps) => {
  api.post(
    '/api/user/totp/disable',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Turn off codes of an authenticator app',
        body: ProofOnly,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      await prove(deps, request, request.body)
      const { totp } = await credentialsOf(deps, userId)
      const command = { type: 'DisableTotp', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      if (totp !== null) await deps.core.vault.deleteSecret(totp.secretRef)
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

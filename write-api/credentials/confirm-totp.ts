import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { HttpRefusal } from '#infra/http/http-refusal.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ConfirmTotp, RecoveryCodes } from '#write-api/contract/credentials.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { tryProof } from './code-guard.ts'
import { changeCredentials } from './credentials-of.ts'
import { codesMadeBy, newRecoveryCodes } from './recovery-codes.ts'
import { isTotpCode, totpOwner, totpStep } from './totp.ts'
import { endTotpOffer, totpOffer } from './totp-offer.ts'

/** POST /api/user/totp: a code of the offered secret turns it on; answers the recovery codes. */
export const confirmTotp: Act = (api, deps) => {
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
      if (secret === null) throw refused('TotpOfferOver')
      const succeeded = await tryProof(deps, request)
      const code = request.body.code.replace(/\s/g, '')
      const step = isTotpCode(code) ? totpStep(secret, code, now()) : null
      if (step === null) throw refused('CodeWrong')
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
        if (error instanceof HttpRefusal) await vault.deleteSecret(secretRef)
        throw error
      })
      await endTotpOffer(deps, userId)
      await visibleIn(deps, reply, ['credentials'], position)
      return success({ recovery_codes: codesMadeBy(events, made) })
    },
  )
}

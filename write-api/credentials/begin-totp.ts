import { optionValue } from '#domain/options/registry.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ProofOnly, TotpOffer } from '#write-api/contract/credentials.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { credentialsOf } from './credentials-of.ts'
import { proveAnew } from './prove.ts'
import { newTotpSecret, totpUri } from './totp.ts'
import { keepTotpOffer } from './totp-offer.ts'

/** POST /api/user/totp/begin: a secret for an authenticator app, until a code of it confirms it. */
export const beginTotp: Act = (api, deps) => {
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
      if (totp !== null) throw refused('TotpAlreadyOn')
      await proveAnew(deps, request, request.body)
      const secret = newTotpSecret()
      await keepTotpOffer(deps, userId, secret)
      const { values } = await allOptions(deps.core.db)
      return success({ secret, uri: totpUri(secret, optionValue(values, 'SystemName'), username) })
    },
  )
}

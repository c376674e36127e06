import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions, TicketOnly } from '#write-api/contract/credentials.ts'
import type { Act, Parts } from '../act.ts'
import { newChallenge } from '../credentials/challenges.ts'
import { credentialsOf } from '../credentials/credentials-of.ts'
import { passkeysAt } from '../credentials/passkey-record.ts'
import { passkeySite } from '../credentials/passkey-site.ts'
import { webauthn } from '../credentials/webauthn.ts'
import { refused } from '../refusals.ts'
import { ticketFor } from './login-ticket.ts'

/** POST /api/user/login/second/begin: what the browser asks for one of the user's passkeys by. */
export const secondStepPasskey: Act = (api, parts) => {
  api.post(
    '/api/user/login/second/begin',
    {
      schema: {
        summary: 'Begin the second step of a login with a passkey',
        body: TicketOnly,
        response: { 200: Envelope(PasskeyOptions) },
      },
    },
    async (request) => {
      const { ticket } = request.body
      const { userId } = await ticketFor(parts, ticket)
      const site = await passkeySite(parts, request)
      const known = await credentialsOf(parts, userId)
      const allowCredentials = await passkeysAt(parts.core.vault, userId, known, site.id)
      if (allowCredentials.length === 0) throw refused('PasskeyFailed')
      const { generateAuthenticationOptions } = await webauthn()
      const options = await generateAuthenticationOptions({
        rpID: site.id,
        challenge: await newChallenge(parts, request, secondPurpose(parts, ticket)),
        allowCredentials,
        userVerification: 'preferred',
      })
      return success({ options })
    },
  )
}

/** A challenge of one login is none for another. */
export const secondPurpose = ({ core }: Parts, ticket: string): string =>
  `second:${core.vault.keyedHash('login-ticket', ticket)}`

import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions, TicketOnly } from '#write-api/contract/credentials.ts'
import type { Act, Parts } from '../act.ts'
import { askPasskey } from '../credentials/ask-passkey.ts'
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
      const purpose = secondPurpose(parts, ticket)
      const asked = { userId, purpose, userVerification: 'preferred' } as const
      return success({ options: await askPasskey(parts, request, asked) })
    },
  )
}

/** A challenge of one login is none for another. */
export const secondPurpose = ({ core }: Parts, ticket: string): string =>
  `second:${core.vault.keyedHash('login-ticket', ticket)}`

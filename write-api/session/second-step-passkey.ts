import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PasskeyOptions, TicketOnly } from '#write-api/contract/credentials.ts'
import type { Act, Deps } from '../act.ts'
import { askPasskey } from '../credentials/ask-passkey.ts'
import { ticketFor } from './login-ticket.ts'

/** POST /api/user/login/second/begin: what the browser asks for one of the user's passkeys by. */
export const secondStepPasskey: Act = (api, deps) => {
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
      const { userId } = await ticketFor(deps, ticket)
      const purpose = secondPurpose(deps, ticket)
      const asked = { userId, purpose, userVerification: 'preferred' } as const
      return success({ options: await askPasskey(deps, request, asked) })
    },
  )
}

/** A challenge of one login is none for another. */
export const secondPurpose = ({ core }: Deps, ticket: string): string =>
  `second:${core.vault.keyedHash('login-ticket', ticket)}`

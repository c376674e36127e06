import type { FastifyRequest } from 'fastify'
import { success } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { SessionUser } from '#read-api/contract/user.ts'
import type { Action, Deps } from '../action.ts'
import { PasskeyOptions, SecondStep, TicketOnly } from '../contract/credentials.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'
import { askPasskey } from '../credentials/passkeys.ts'
import { takeCode, tryCode } from '../credentials/take-code.ts'
import { takePasskey } from '../credentials/take-passkey.ts'
import { enterFully } from './enter.ts'
import { type LoginTicket, takeTicket, ticketFor, tryTicket } from './login-ticket.ts'

/** POST /api/user/login/second/begin: what the browser asks for one of the user's passkeys by. */
export const secondStepPasskey: Action = (api, deps) => {
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
const secondPurpose = ({ core }: Deps, ticket: string): string =>
  `second:${core.vault.keyedHash('login-ticket', ticket)}`

/** POST /api/user/login/second: a session for the ticket of the first step and a second factor. */
export const secondStep: Action = (api, deps) => {
  api.post(
    '/api/user/login/second',
    {
      schema: {
        summary: 'Second step of a login: a code, a recovery code or a passkey',
        body: SecondStep,
        response: { 200: Envelope(SessionUser) },
      },
    },
    async (request, reply) => {
      const { ticket, passkey } = request.body
      const first = await ticketFor(deps, ticket)
      const { userId: id, authVersion } = first
      // Nobody guesses a signature: wrong codes of others must not keep a passkey waiting.
      const succeeded =
        passkey === undefined ? await tryCode(deps, request, { id, authVersion }) : () => {}
      await tryTicket(deps, ticket)
      await takeFactor(deps, request, first, request.body)
      await takeTicket(deps, ticket)
      succeeded()
      const user = await findUser(deps.core.db, first.userId)
      if (user?.authVersion !== first.authVersion) throw credentialsError('LoginTicketOver')
      return success(await enterFully(request, reply, user, first.isByPassword))
    },
  )
}

async function takeFactor(
  deps: Deps,
  request: FastifyRequest,
  { userId }: LoginTicket,
  { ticket, code = '', passkey }: SecondStep,
): Promise<void> {
  const context = { actor: `user:${userId}`, cause: request.id, at: deps.core.now() }
  if (passkey === undefined) return takeCode(deps, userId, code, context)
  const purpose = secondPurpose(deps, ticket)
  await takePasskey(deps, request, { userId, passkey, purpose, isAlone: false }, context)
}

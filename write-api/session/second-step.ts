import type { FastifyRequest } from 'fastify'
import { success } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { SessionUser } from '#read-api/contract/user.ts'
import { SecondStep } from '#write-api/contract/credentials.ts'
import type { Act, Deps } from '../act.ts'
import { tryCode } from '../credentials/code-guard.ts'
import { takeCode } from '../credentials/take-code.ts'
import { takePasskey } from '../credentials/take-passkey.ts'
import { refused } from '../refusals.ts'
import { enterFully } from './enter.ts'
import { type LoginTicket, takeTicket, ticketFor, tryTicket } from './login-ticket.ts'
import { secondPurpose } from './second-step-passkey.ts'

/** POST /api/user/login/second: a session for the ticket of the first step and a second factor. */
export const secondStep: Act = (api, deps) => {
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
      if (user?.authVersion !== first.authVersion) throw refused('LoginTicketOver')
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

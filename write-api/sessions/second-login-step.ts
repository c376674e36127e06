import type { FastifyRequest } from 'fastify'
import { contextOfUser } from '#infra/http/command-context.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { findUser } from '#projections/users/query.ts'
import type { Action, Deps } from '../action.ts'
import type { SecondStep } from '../contract/credentials.ts'
import { loginActions } from '../contract/login.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'
import { passkeyAssertionOptions } from '../credentials/passkeys.ts'
import { verifyPasskeySignature } from '../credentials/verify-passkey-signature.ts'
import { limitCodeAttempts, verifyCode } from '../credentials/verify-second-factor-code.ts'
import { consumeTicket, countTicketAttempt, type LoginTicket, readTicket } from './login-ticket.ts'
import { countFailures, type LoginSubject, subjectOf } from './record-failed-logins.ts'
import { startUserSession } from './start-session-or-require-second-factor.ts'

/** POST /api/user/login/second/begin: returns the WebAuthn options for the user's passkeys. */
export const secondStepPasskey: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'POST /api/user/login/second/begin'),
    handler: async (request) => {
      const { ticket } = request.body
      const { userId } = await readTicket(deps, ticket)
      const purpose = secondPurpose(deps, ticket)
      const check = { userId, purpose, userVerification: 'preferred' } as const
      return success({ options: await passkeyAssertionOptions(deps, request, check) })
    },
  })
}

/**
 * Returns the purpose for which a challenge is issued in the second step of a login. The purpose
 * contains the ticket, so that the challenge can be used only for this login.
 */
const secondPurpose = ({ core }: Deps, ticket: string): string =>
  `second:${core.vault.keyedHash('login-ticket', ticket)}`

/**
 * POST /api/user/login/second: starts a session. The request contains the ticket from the first
 * step and a second factor.
 */
export const secondStep: Action = (api, deps) => {
  api.route({
    ...endpoint(loginActions, 'POST /api/user/login/second'),
    handler: async (request, reply) => {
      let subject: LoginSubject | null = null
      const who = () => subject
      return countFailures(deps, request, who, async () => {
        const first = await readTicket(deps, request.body.ticket)
        const found = subjectOf(await findUser(deps.core.db, first.userId))
        // The first factor (such as the password) was correct, so a failure of the second factor
        // has a higher priority than a wrong password.
        subject = found?.urgency === 0 ? { ...found, urgency: 1 } : found
        await verifySecondStep(deps, request, first, request.body)
        const user = await findUser(deps.core.db, first.userId)
        if (user?.authVersion !== first.authVersion) throw credentialsError('LoginTicketOver')
        return success(await startUserSession(deps, request, reply, user, first.isByPassword))
      })
    },
  })
}

async function verifySecondStep(
  deps: Deps,
  request: FastifyRequest,
  first: LoginTicket,
  step: SecondStep,
): Promise<void> {
  const { userId: id, authVersion } = first
  const { ticket, passkey } = step
  // A passkey needs no limit besides the ticket's limit, because a passkey's signature cannot be
  // guessed.
  const succeeded =
    passkey === undefined ? await limitCodeAttempts(deps, request, { id, authVersion }) : () => {}
  await countTicketAttempt(deps, ticket)
  await verifyFactor(deps, request, first, step)
  await consumeTicket(deps, ticket)
  succeeded()
}

async function verifyFactor(
  deps: Deps,
  request: FastifyRequest,
  { userId }: LoginTicket,
  { ticket, code = '', passkey }: SecondStep,
): Promise<void> {
  const context = await contextOfUser(deps.core, request, userId)
  if (passkey === undefined) return verifyCode(deps, userId, code, context)
  const purpose = secondPurpose(deps, ticket)
  await verifyPasskeySignature(
    deps,
    request,
    { userId, passkey, purpose, isSoleFactor: false },
    context,
  )
}

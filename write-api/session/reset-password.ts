import { randomInt } from 'node:crypto'
import Type from 'typebox'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ResetPassword } from '#write-api/contract/entry.ts'
import { type Act, type Parts, visibleIn } from '../act.ts'
import { spelled } from '../mail/mail-address.ts'
import { refused } from '../refusals.ts'
import { keepPassword } from '../users/password-secret.ts'
import { type ResetLink, takeResetLink } from './reset-links.ts'

/** POST /api/user/reset: a new password for the link of a mail; every session is over. */
export const resetPassword: Act = (api, parts) => {
  api.post(
    '/api/user/reset',
    {
      schema: {
        summary: 'Reset a password by the link of a mail; answers the new one, once',
        body: ResetPassword,
        response: { 200: Envelope(Type.String()) },
      },
    },
    async (request, reply) => {
      const { email, token } = request.body
      const link = await takeResetLink(parts.core, spelled(email) ?? '', token)
      if (link === null) throw refused('ResetLinkInvalid')
      const password = newPassword()
      const position = await parts.turns(userStream(link.userId), () =>
        change(parts, link, password, request.id),
      )
      await request.server.gate.sessions.endAllOf(link.userId)
      await visibleIn(parts, reply, ['users'], position)
      return success(password)
    },
  )
}

async function change(
  { core }: Parts,
  { userId, authVersion }: ResetLink,
  password: string,
  cause: string,
): Promise<number> {
  const { vault, actors } = core
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  // A password or role that changed since, a ban: the link is of another time.
  if (user === null || user.authVersion !== authVersion) throw refused('ResetLinkInvalid')
  const passwordRef = await keepPassword(vault, userId, await vault.hashPassword(password))
  const command = {
    type: 'ChangePassword',
    actorRole: null,
    passwordRef,
    isTemporary: true,
  } as const
  const context = { actor: `user:${userId}`, cause, at: core.now() }
  const outcome = await actors.handle(userDecider, stream, command, context)
  if (outcome.isDone) return outcome.position
  await vault.deleteSecret(passwordRef)
  throw refused('ResetLinkInvalid')
}

/** Without those that are taken for one another: it may be typed by hand. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 16

const newPassword = (): string =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

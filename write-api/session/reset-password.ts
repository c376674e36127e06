import { randomInt } from 'node:crypto'
import Type from 'typebox'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { ResetPassword } from '#write-api/contract/entry.ts'
import { type Action, type Deps, visibleIn } from '../action.ts'
import { spelled } from '../mail/mail-address.ts'
import { mailIdentity } from '../users/bind-identity.ts'
import { identityKeyOf } from '../users/identity.ts'
import { forgetPasswords, keepPassword } from '../users/passwords.ts'
import { loginError } from './login-errors.ts'
import { isResetLink, type ResetLink, takeResetLink } from './request-reset.ts'

/** POST /api/user/reset: a new password for the link of a mail; every session is over. */
export const resetPassword: Action = (api, deps) => {
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
      const address = spelled(email) ?? ''
      const password = newPassword()
      // Fifty at once with one link are one hash, not fifty.
      const { link, hash } = await deps.runExclusive(`reset-link ${address} ${token}`, () =>
        useLink(deps, address, token, password),
      )
      const position = await deps.runExclusive(userStream(link.userId), () =>
        change(deps, { ...link, address, hash, cause: request.id }),
      )
      await request.server.gate.sessions.endAllOf(link.userId)
      await forgetPasswords(deps.core, link.userId)
      await visibleIn(deps, reply, ['users'], position)
      return success(password)
    },
  )
}

/**
 * Hashes before the link is used up: where too many passwords wait for that, it is still good.
 */
async function useLink({ core }: Deps, address: string, token: string, password: string) {
  if (!(await isResetLink(core, address, token))) throw loginError('ResetLinkInvalid')
  const hash = await core.vault.hashPassword(password)
  const link = await takeResetLink(core, address, token)
  if (link === null) throw loginError('ResetLinkInvalid')
  return { link, hash }
}

type Change = ResetLink & {
  readonly address: string
  readonly hash: string
  readonly cause: string
}

async function change(
  { core }: Deps,
  { userId, authVersion, address, hash, cause }: Change,
): Promise<number> {
  const { vault, actors } = core
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  // A password or role that changed since, a ban, another address: the link is of another time.
  const isOwner = user?.identities.email === identityKeyOf(vault, mailIdentity(address))
  if (user?.authVersion !== authVersion || !isOwner) throw loginError('ResetLinkInvalid')
  const passwordRef = await keepPassword(vault, userId, hash)
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
  throw loginError('ResetLinkInvalid')
}

/** Without those that are taken for one another: it may be typed by hand. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 16

const newPassword = (): string =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

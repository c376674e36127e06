import { randomInt } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { contextOfUser } from '#infra/http/command-context.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, type Deps, waitUntilVisible } from '../action.ts'
import { registrationActions } from '../contract/registration-password-reset-and-setup.ts'
import { normalizeMailAddress } from '../mail/mail-address.ts'
import { mailIdentity } from '../users/bind-and-unbind-identities.ts'
import { identityKeyOf } from '../users/identity-key.ts'
import { deleteOldPasswords, storePassword } from '../users/passwords.ts'
import { loginError } from './login-and-registration-errors.ts'
import { consumeResetLink, isResetLinkValid, type ResetLink } from './request-password-reset.ts'

/**
 * POST /api/user/reset: sets a new temporary password through a mailed link, and ends all sessions
 * of the user. Returns the new password.
 */
export const resetPassword: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'POST /api/user/reset'),
    handler: async (request, reply) => {
      const { email, token } = request.body
      const address = normalizeMailAddress(email) ?? ''
      const password = newPassword()
      // Requests with the same link run one at a time, so that only one of them hashes a password.
      const { link, hash } = await deps.runExclusive(`reset-link ${address} ${token}`, () =>
        consumeLink(deps, address, token, password),
      )
      const position = await deps.runExclusive(userStream(link.userId), () =>
        changePassword(deps, request, { ...link, address, hash }),
      )
      await request.server.gate.sessions.endAllOf(link.userId)
      await deleteOldPasswords(deps.core, link.userId)
      await waitUntilVisible(deps, reply, ['users'], position)
      return success(password)
    },
  })
}

/**
 * Consumes a reset link. Returns the link's data and the hash of the new password. The password is
 * hashed first: if too many passwords wait for hashing, an error is thrown and the link stays
 * valid.
 */
async function consumeLink({ core }: Deps, address: string, token: string, password: string) {
  if (!(await isResetLinkValid(core, address, token))) throw loginError('ResetLinkInvalid')
  const hash = await core.vault.hashPassword(password)
  const link = await consumeResetLink(core, address, token)
  if (link === null) throw loginError('ResetLinkInvalid')
  return { link, hash }
}

type PasswordChange = ResetLink & {
  readonly address: string
  readonly hash: string
}

async function changePassword(
  { core }: Deps,
  request: FastifyRequest,
  { userId, authVersion, address, hash }: PasswordChange,
): Promise<number> {
  const { vault, actors } = core
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  // A change of the user's password, role, status or email address makes the link invalid.
  const isOwner = user?.identities.email === identityKeyOf(vault, mailIdentity(address))
  if (user?.authVersion !== authVersion || !isOwner) throw loginError('ResetLinkInvalid')
  const passwordRef = await storePassword(vault, userId, hash)
  const command = {
    type: 'ChangePassword',
    actorRole: null,
    passwordRef,
    isTemporary: true,
  } as const
  const context = await contextOfUser(core, request, userId)
  const outcome = await actors.handle(userDecider, stream, command, context)
  if (outcome.isDone) return outcome.position
  await vault.deleteSecret(passwordRef)
  throw loginError('ResetLinkInvalid')
}

/**
 * The characters of a new password. Characters that look alike are left out, because users may have
 * to type the password.
 */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 16

const newPassword = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

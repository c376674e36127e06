import type { FastifyRequest } from 'fastify'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import {
  onlyUser,
  onlyUserOfAnyPassword,
  principalOf,
  sessionOf,
} from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { startSession } from '#infra/http/session-and-device-cookies.ts'
import { findUser, type UserRow } from '#projections/users/query.ts'
import { USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { applyFields } from '../apply-request-fields.ts'
import { type UpdateSelf, userActions } from '../contract/users.ts'
import { requireProofOrRecentLogin } from '../credentials/identity-proof.ts'
import { notificationsStep } from '../notifications/build-notification-settings-step.ts'
import { countFailures, subjectOf } from '../sessions/record-failed-logins.ts'
import { checkPassword, deleteOldPasswords, isPassword, storePassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf } from './user-names.ts'

/**
 * PUT /api/user/self: changes the display name or the password. A change of the password requires
 * the current password and ends all other sessions. A user without a password needs a proof of
 * identity or a recent login instead. The current session gets a new id.
 */
export const updateSelf: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'PUT /api/user/self'),
    onRequest: onlyUserOfAnyPassword,
    handler: async (request, reply) => {
      const { userId, sessionHash } = principalOf(request)
      const { display_name, password = '' } = request.body
      if (password !== '' && sessionHash === null) throw httpError('SessionRequired')
      const context = contextOf(deps, request)
      const { user } = await deps.core.actors.stateOf(userDecider, userStream(userId))
      const version = user?.authVersion ?? 0
      const newSecret =
        password === ''
          ? null
          : { ifVersion: version, passwordRef: await newPassword(deps, request, request.body) }
      const position = await appendChange(deps, userId, display_name, newSecret, context)
      await waitUntilVisible(deps, reply, ['users'], position)
      if (newSecret !== null) {
        await request.server.gate.sessions.endAllOf(userId)
        await deleteOldPasswords(deps.core, userId)
        // NOTE: the change of the password has increased `authVersion`. The new session must have
        // the new value, so that a later change ends this session too.
        await startSession(request, reply, { id: userId, authVersion: version + 1 })
      }
      return done()
    },
  })
}

async function newPassword(
  deps: Deps,
  request: FastifyRequest,
  { password = '', original_password: original = '', code = '', passkey }: UpdateSelf,
): Promise<string> {
  const { core, loginGuard } = deps
  const { userId } = principalOf(request)
  checkPassword(password)
  const attempt = await loginGuard.enterSession(sessionOf(request))
  if (attempt.waitSeconds > 0) throw httpError('TooManyRequests', {}, attempt.waitSeconds)
  const user = await findUser(core.db, userId)
  // A user without a password can set the first password after a proof with a second factor. A user
  // without a second factor must have logged in recently.
  const isFirst = user !== null && user.passwordRef === null
  if (isFirst) await requireProofOrRecentLogin(deps, request, { code, ...(passkey && { passkey }) })
  else await verifyPassword(deps, request, user, original)
  // Other people may know a temporary password. It must therefore be replaced by a different
  // password.
  if (user?.mustChangePassword && password === original) throw userError('PasswordUnchanged')
  attempt.succeeded()
  return storePassword(core.vault, userId, await core.vault.hashPassword(password))
}

/** Throws if the current password is wrong. Wrong passwords are counted as failed logins. */
const verifyPassword = (
  deps: Deps,
  request: FastifyRequest,
  user: UserRow | null,
  password: string,
): Promise<void> =>
  countFailures(
    deps,
    request,
    () => subjectOf(user),
    async () => {
      const isRight = user !== null && (await isPassword(deps.core.vault, user, password))
      if (!isRight) throw userError('WrongOriginalPassword')
    },
  )

async function appendChange(
  { core }: Deps,
  userId: number,
  displayName: string | undefined,
  newSecret: { readonly passwordRef: string; readonly ifVersion: number } | null,
  context: CommandContext,
): Promise<number> {
  const { vault, actors } = core
  const stream = userStream(userId)
  const steps: AnyStep[] = []
  const step = (command: object) => steps.push({ decider: userDecider, stream, command })
  if (displayName !== undefined) {
    const row = await findUser(core.db, userId)
    const name = displayNameOf(displayName) || (row?.username ?? '')
    const sealed = await vault.seal(userId, name)
    const isNew = name !== row?.displayName
    if (isNew) step({ type: 'ChangeProfile', actorRole: null, displayName: sealed })
  }
  if (newSecret !== null) step({ type: 'ChangePassword', actorRole: null, ...newSecret })
  if (steps.length === 0) return core.store.headPosition()
  const outcome = await actors.handleTogether(steps, context)
  if (!outcome.isDone && newSecret !== null) await vault.deleteSecret(newSecret.passwordRef)
  return accepted(outcome).position
}

/** PUT /api/user/setting: changes those settings of the caller that the request contains. */
export const updateSettings: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'PUT /api/user/setting'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { actors, vault } = deps.core
      const { userId } = principalOf(request)
      const stream = userStream(userId)
      const context = contextOf(deps, request)
      const position = await deps.runExclusive(stream, async () => {
        const { user } = await actors.stateOf(userDecider, stream)
        if (user === null) throw userError('UserUnknown')
        const settings = await applyFields(USER_SETTING_FIELDS, user.settings, request.body)
        const command = { type: 'ChangeSettings', settings } as const
        const notifications = await notificationsStep(deps, request, userId)
        const settingsStep = { decider: userDecider, stream, command }
        const outcome = await actors.handleTogether([settingsStep, notifications.step], context)
        const { ifDone, ifRejected } = notifications.obsoleteSecret
        const unusedSecret = outcome.isDone ? ifDone : ifRejected
        if (unusedSecret !== null) await vault.deleteSecret(unusedSecret)
        return accepted(outcome).position
      })
      await waitUntilVisible(deps, reply, ['users', 'notifications'], position)
      return done()
    },
  })
}

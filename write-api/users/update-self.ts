import type { FastifyRequest } from 'fastify'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyUser, onlyUserOfAnyPassword, principalOf, sessionOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { startSession } from '#infra/http/session-cookie.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { UpdateSelf, UpdateSettings } from '../contract/users.ts'
import { proveAnew } from '../credentials/proof.ts'
import { notificationsChange } from '../notifications/notification-settings.ts'
import { checkPassword, deleteOldPasswords, isPassword, storePassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf } from './user-names.ts'

/**
 * PUT /api/user/self: the own display name, or password with the current one. A new password ends
 * every session but this one, which goes on under a new id.
 */
export const updateSelf: Action = (api, deps) => {
  api.put(
    '/api/user/self',
    {
      onRequest: onlyUserOfAnyPassword,
      schema: {
        summary: 'Change the own display name or password',
        body: UpdateSelf,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { userId, sessionHash } = principalOf(request)
      const { display_name, password = '' } = request.body
      if (password !== '' && sessionHash === null) throw httpError('SessionRequired')
      const context = contextOf(deps, request)
      const { user } = await deps.core.actors.stateOf(userDecider, userStream(userId))
      const version = user?.authVersion ?? 0
      const secret =
        password === ''
          ? null
          : { ifVersion: version, passwordRef: await newPassword(deps, request, request.body) }
      const position = await change(deps, userId, display_name, secret, context)
      await waitUntilVisible(deps, reply, ['users'], position)
      if (secret !== null) {
        await request.server.gate.sessions.endAllOf(userId)
        await deleteOldPasswords(deps.core, userId)
        // NOTE: the version of this change, not of one that came after: that one voids this too.
        await startSession(request, reply, { id: userId, authVersion: version + 1 })
      }
      return done()
    },
  )
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
  // Who came by another way in sets a first one: there is none to know, but there may be a code;
  // and without one, the login has to be of just now.
  const isFirst = user !== null && user.passwordRef === null
  if (isFirst) await proveAnew(deps, request, { code, ...(passkey && { passkey }) })
  else if (user === null || !(await isPassword(core.vault, user, original))) {
    throw userError('WrongOriginalPassword')
  }
  // One that somebody else has seen is none of one's own.
  if (user?.mustChangePassword && password === original) throw userError('PasswordUnchanged')
  attempt.succeeded()
  return storePassword(core.vault, userId, await core.vault.hashPassword(password))
}

async function change(
  { core }: Deps,
  userId: number,
  displayName: string | undefined,
  secret: { readonly passwordRef: string; readonly ifVersion: number } | null,
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
  if (secret !== null) step({ type: 'ChangePassword', actorRole: null, ...secret })
  if (steps.length === 0) return core.store.headPosition()
  const outcome = await actors.handleTogether(steps, context)
  if (!outcome.isDone && secret !== null) await vault.deleteSecret(secret.passwordRef)
  return accepted(outcome).position
}

/** PUT /api/user/setting: the own settings; those that are left out stay. */
export const updateSettings: Action = (api, deps) => {
  api.put(
    '/api/user/setting',
    {
      onRequest: onlyUser,
      schema: { summary: 'Change the own settings', body: UpdateSettings, response: { 200: Done } },
    },
    async (request, reply) => {
      const { actors, vault } = deps.core
      const { userId } = principalOf(request)
      const stream = userStream(userId)
      const { accept_unset_model_ratio_model, show_ip_in_logs } = request.body
      const context = contextOf(deps, request)
      const position = await deps.runExclusive(stream, async () => {
        const { user } = await actors.stateOf(userDecider, stream)
        if (user === null) throw userError('UserUnknown')
        const settings = {
          acceptUnsetModelRatioModel:
            accept_unset_model_ratio_model ?? user.settings.acceptUnsetModelRatioModel,
          showIpInLogs: show_ip_in_logs ?? user.settings.showIpInLogs,
        }
        const command = { type: 'ChangeSettings', settings } as const
        const told = await notificationsChange(deps, request, userId)
        const own = { decider: userDecider, stream, command }
        const outcome = await actors.handleTogether([own, told.step], context)
        const { ifDone, ifRefused } = told.leftOver
        const gone = outcome.isDone ? ifDone : ifRefused
        if (gone !== null) await vault.deleteSecret(gone)
        return accepted(outcome).position
      })
      await waitUntilVisible(deps, reply, ['users', 'notifications'], position)
      return done()
    },
  )
}

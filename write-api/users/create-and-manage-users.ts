import { optionInteger } from '#domain/options/option-registry.ts'
import { ACTIVE, BANNED } from '#domain/shared/user-roles-and-statuses.ts'
import type { UserCommand } from '#domain/users/commands.ts'
import { userDecider } from '#domain/users/decide.ts'
import { type Role, userStream } from '#domain/users/events.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import type { ManageUser } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { revokeCredentials } from '../credentials/read-and-change-credentials.ts'
import { createUserAccount } from './create-user-account.ts'
import { checkPassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf, usernameOf } from './user-names.ts'

/** POST /api/user/: creates a normal user, who receives the initial quota of every new user. */
export const createUser: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { password, display_name = '' } = request.body
      if (request.body.username.trim() === '' || password === '') {
        throw userError('UserFieldsRequired')
      }
      const username = usernameOf(request.body.username)
      checkPassword(password)
      const { values } = await allOptions(deps.core.db)
      const user = {
        username,
        displayName: displayNameOf(display_name) || username,
        password,
        role: 1,
        quota: BigInt(optionInteger(values, 'QuotaForNewUser')),
        reason: 'new-user',
      } as const
      // Users are created one at a time. Each creation hashes a password, and only a limited number
      // of passwords can be hashed at once.
      const { id, outcome } = await deps.runExclusive('create-user', () =>
        createUserAccount(deps, user, contextOf(deps, request)),
      )
      await waitUntilVisible(deps, reply, ['users', 'balances'], accepted(outcome).position)
      return success({ id })
    },
  })
}

const COMMANDS = {
  promote: 'PromoteUser',
  appoint_auditor: 'AppointAuditor',
  demote: 'DemoteUser',
  disable: 'DisableUser',
  enable: 'EnableUser',
  delete: 'DeleteUser',
} as const satisfies Record<ManageUser['action'], UserCommand['type']>

/**
 * POST /api/user/manage: changes the role or status of a user, or deletes the user. `action` says
 * whether to promote, appoint as auditor, demote, disable, enable or delete. Returns the new status
 * and role.
 */
export const manageUser: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/manage'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { id, action } = request.body
      const { actors } = deps.core
      const actorRole = principalOf(request).role as Role
      const command = { type: COMMANDS[action], actorRole }
      const context = contextOf(deps, request)
      const outcome = await actors.handle(userDecider, userStream(id), command, context)
      const { events, position } = accepted(outcome)
      // The sessions are ended here. Otherwise, they would stay valid until the read model includes
      // the change.
      const { sessions } = request.server.gate
      if (events.length > 0 && action !== 'enable') await sessions.endAllOf(id)
      const revokedPosition =
        action === 'delete' ? await revokeCredentials(deps, sessions, id, context) : 0
      await waitUntilVisible(
        deps,
        reply,
        ['users', 'credentials'],
        Math.max(position, revokedPosition),
      )
      const { user } = await actors.stateOf(userDecider, userStream(id))
      return success({ status: user?.isEnabled ? ACTIVE : BANNED, role: user?.role ?? 0 })
    },
  })
}

import { optionInteger } from '#domain/options/option-registry.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { createUserAccount } from './new-user-account.ts'
import { checkPassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf, usernameOf } from './user-names.ts'

/**
 * POST /api/user/: creates a normal user. The user receives the quota that all new users receive.
 */
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
      // can be hashed at once.
      const { id, outcome } = await deps.runExclusive('create-user', () =>
        createUserAccount(deps, user, contextOf(deps, request)),
      )
      await waitUntilVisible(deps, reply, ['users', 'balances'], accepted(outcome).position)
      return success({ id })
    },
  })
}

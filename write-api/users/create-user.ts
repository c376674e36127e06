import Type from 'typebox'
import { optionInteger } from '#domain/options/registry.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateUser } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { createUserAccount } from './new-user.ts'
import { checkPassword } from './passwords.ts'
import { userError } from './user-errors.ts'
import { displayNameOf, usernameOf } from './user-names.ts'

/** POST /api/user/: creates a normal user with the quota of new users. */
export const createUser: Action = (api, deps) => {
  api.post(
    '/api/user/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Create a user',
        body: CreateUser,
        response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
      },
    },
    async (request, reply) => {
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
      // Serialised, because hashing many passwords at once would exceed the limit and fail.
      const { id, outcome } = await deps.runExclusive('create-user', () =>
        createUserAccount(deps, user, contextOf(deps, request)),
      )
      await waitUntilVisible(deps, reply, ['users', 'balances'], accepted(outcome).position)
      return success({ id })
    },
  )
}

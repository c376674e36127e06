import Type from 'typebox'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { newAccessToken } from '#infra/http/access-token.ts'
import { Done, done, success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { changeCredentials } from './credentials-of.ts'
import { requireRecent } from './proof.ts'

const DAYS = 90

/** GET /api/user/token: a new system access token in place of the old one. Told this once. */
export const resetAccessToken: Action = (api, deps) => {
  api.get(
    '/api/user/token',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Reset the system access token; good for 90 days',
        response: { 200: Envelope(Type.String()) },
      },
    },
    async (request, reply) => {
      await requireRecent(deps, request)
      const { vault, now } = deps.core
      const { userId, authVersion } = principalOf(request)
      const token = newAccessToken()
      const tokenHash = vault.keyedHash('access-token', token)
      const expiresAt = Math.floor(now() / 1_000) + DAYS * 86_400
      const { position } = await changeCredentials(
        deps,
        { type: 'IssueAccessToken', userId, tokenHash, authVersion, expiresAt },
        contextOf(deps, request),
      )
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return success(token)
    },
  )
}

/** DELETE /api/user/token: the system access token is void at once. */
export const revokeAccessToken: Action = (api, deps) => {
  api.delete(
    '/api/user/token',
    {
      onRequest: onlySession,
      schema: { summary: 'Revoke the system access token', response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const command = { type: 'RevokeAccessToken', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

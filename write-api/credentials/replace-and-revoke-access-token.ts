import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { newAccessToken } from '#infra/http/access-token-format.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { credentialActions } from '../contract/credentials.ts'
import { requireRecentLogin } from './identity-proof.ts'
import { changeCredentials } from './read-and-change-credentials.ts'

const DAYS = 90

/**
 * GET /api/user/token: replaces the user's access token. Only this response contains the new token.
 */
export const resetAccessToken: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'GET /api/user/token'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      await requireRecentLogin(deps, request)
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
  })
}

/** DELETE /api/user/token: revokes the access token immediately. */
export const revokeAccessToken: Action = (api, deps) => {
  api.route({
    ...endpoint(credentialActions, 'DELETE /api/user/token'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const command = { type: 'RevokeAccessToken', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['credentials'], position)
      return done()
    },
  })
}

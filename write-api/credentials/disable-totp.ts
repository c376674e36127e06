import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { ProofOnly } from '#write-api/contract/credentials.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'
import { prove } from './prove.ts'

/** POST /api/user/totp/disable: for a code or the password; its secret is gone with it. */
export const disableTotp: Act = (api, deps) => {
  api.post(
    '/api/user/totp/disable',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Turn off codes of an authenticator app',
        body: ProofOnly,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      await prove(deps, request, request.body)
      const { totp } = await credentialsOf(deps, userId)
      const command = { type: 'DisableTotp', userId } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      if (totp !== null) await deps.core.vault.deleteSecret(totp.secretRef)
      await visibleIn(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

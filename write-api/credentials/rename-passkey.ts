import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { RenamePasskey } from '#write-api/contract/credentials.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { changeCredentials } from './credentials-of.ts'
import { passkeyName } from './passkey-name.ts'

/** PUT /api/user/passkeys: another name for one of the own passkeys. */
export const renamePasskey: Act = (api, deps) => {
  api.put(
    '/api/user/passkeys',
    {
      onRequest: onlySession,
      schema: { summary: 'Rename a passkey', body: RenamePasskey, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId } = request.body
      const name = await deps.core.vault.seal(userId, passkeyName(request.body.name))
      const command = { type: 'RenamePasskey', userId, passkeyId, name } as const
      const { position } = await changeCredentials(deps, command, contextOf(deps, request))
      await visibleIn(deps, reply, ['credentials'], position)
      return done()
    },
  )
}

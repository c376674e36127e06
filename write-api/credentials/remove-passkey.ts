import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { RemovePasskey } from '#write-api/contract/credentials.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { changeCredentials } from './credentials-of.ts'
import { prove } from './prove.ts'

/** POST /api/user/passkeys/remove: for a code or the password. */
export const removePasskey: Act = (api, parts) => {
  api.post(
    '/api/user/passkeys/remove',
    {
      onRequest: onlySession,
      schema: { summary: 'Remove a passkey', body: RemovePasskey, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const { id: passkeyId, ...proof } = request.body
      await prove(parts, request, proof)
      const command = { type: 'RemovePasskey', userId, passkeyId } as const
      const { position } = await changeCredentials(parts, command, contextOf(parts, request))
      await visibleIn(parts, reply, ['credentials'], position)
      return done()
    },
  )
}

import type { FastifyRequest } from 'fastify'
import { credentialsDecider } from '#domain/credentials/decide.ts'
import { credentialsStream } from '#domain/credentials/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { RemovePasskey } from '#write-api/contract/credentials.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { waysOpen } from '../users/ways-open.ts'
import { hasPasskeyAlone } from './passkey-way-in.ts'
import { prove } from './prove.ts'

/** POST /api/user/passkeys/remove: for a proof, unless it is the last way in. */
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
      const position = await parts.turns(userStream(userId), async () => {
        const steps = [
          ...(await stepsToStay(parts, request, passkeyId)),
          {
            decider: credentialsDecider,
            stream: credentialsStream(userId),
            command: { type: 'RemovePasskey', userId, passkeyId },
          },
        ]
        const { actors } = parts.core
        return accepted(await actors.handleTogether(steps, contextOf(parts, request))).position
      })
      await visibleIn(parts, reply, ['credentials'], position)
      return done()
    },
  )
}

/** None where another passkey lets in too; else another way in has to be open. */
async function stepsToStay(
  parts: Parts,
  request: FastifyRequest,
  without: number,
): Promise<AnyStep[]> {
  if (await hasPasskeyAlone(parts, request, without)) return []
  const { userId, role } = principalOf(request)
  const { values } = await allOptions(parts.core.db)
  const command = { type: 'KeepWayIn', waysOpen: waysOpen(values, role) }
  return [{ decider: userDecider, stream: userStream(userId), command }]
}

import { onlySession, sessionOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { ProofOnly } from '#write-api/contract/credentials.ts'
import type { Act } from '../act.ts'
import { prove } from './prove.ts'

/** POST /api/user/proof: for half an hour, this session may do what wants a recent login. */
export const proveSession: Act = (api, deps) => {
  api.post(
    '/api/user/proof',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Prove anew who asks, for calls that want it to be recent and carry no proof',
        body: ProofOnly,
        response: { 200: Done },
      },
    },
    async (request) => {
      await prove(deps, request, request.body)
      await request.server.gate.sessions.prove(sessionOf(request))
      return done()
    },
  )
}

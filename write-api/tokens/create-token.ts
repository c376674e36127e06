import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateToken } from '#write-api/contract/token.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { makeTokens } from './make-tokens.ts'
import { nameOf, namesFor } from './token-names.ts'
import { checkRemain, DEFAULT_REMAIN, DEFAULT_TERMS, termsWith } from './token-terms.ts'
import { checkUsableGroup } from './usable-group.ts'

const Created = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  key: Type.String(),
  /** Of all that were made, the first one's included, in order. */
  ids: Type.Array(Type.Integer()),
  names: Type.Array(Type.String()),
  keys: Type.Array(Type.String()),
})

/** POST /api/token/: one key of the caller's own or `count`, each with its budget. */
export const createToken: Act = (api, deps) => {
  api.post(
    '/api/token/',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Create a token, or count of them; answers their keys',
        body: CreateToken,
        response: { 200: Envelope(Created) },
      },
    },
    async (request, reply) => {
      const user = principalOf(request)
      const { remain_quota = DEFAULT_REMAIN, unlimited_quota = false, count = 1 } = request.body
      checkRemain(remain_quota)
      const name = nameOf(request.body.name, '')
      const terms = await termsWith(deps.core, user.userId, DEFAULT_TERMS, request.body)
      await checkUsableGroup(deps, user, terms.group)
      const names = namesFor(name, count)
      const budget = { remain: BigInt(remain_quota), isUnlimited: unlimited_quota }
      const context = contextOf(deps, request)
      const made = await makeTokens(deps, user.userId, { names, terms, budget }, context)
      await visibleIn(deps, reply, ['tokens', 'balances'], made.position)
      const { ids, keys } = made
      const [id = 0] = ids
      const [key = ''] = keys
      return success({ id, name, key, ids: [...ids], names: [...names], keys: [...keys] })
    },
  )
}

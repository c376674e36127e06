import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateRedemption, REDEMPTION_COUNT_MAX } from '#write-api/contract/redemption.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { makeRedemptions } from './make-redemptions.ts'
import { newRedemptionKey, ownKeyOf } from './redemption-key.ts'
import { NO_TERMS, termsWith } from './redemption-terms.ts'

/** POST /api/redemption/: one code or `count` alike; answers their keys. */
export const createRedemption: Act = (api, parts) => {
  api.post(
    '/api/redemption/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Create a redemption code, or count of them; answers their keys',
        body: CreateRedemption,
        response: { 200: Envelope(Type.Array(Type.String())) },
      },
    },
    async (request, reply) => {
      const { count = 1, key = '', ...fields } = request.body
      const terms = termsWith(NO_TERMS, fields)
      const keys = keysFor(count, key)
      const context = contextOf(parts, request)
      const position = await makeRedemptions(parts, { keys, terms }, context)
      await visibleIn(parts, reply, ['redemptions'], position)
      return success([...keys])
    },
  )
}

function keysFor(count: number, given: string): readonly string[] {
  if (count <= 0) throw refused('RedemptionCountTooSmall')
  if (count > REDEMPTION_COUNT_MAX) {
    throw refused('RedemptionCountTooLarge', { max: REDEMPTION_COUNT_MAX })
  }
  const key = ownKeyOf(given)
  if (key === '') return Array.from({ length: count }, newRedemptionKey)
  if (count > 1) throw refused('OneKeyOneCode')
  return [key]
}

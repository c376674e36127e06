import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateRedemption, REDEMPTION_COUNT_MAX } from '#write-api/contract/redemption.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { makeRedemptions } from './make-redemptions.ts'
import { newRedemptionKey, ownKeyOf } from './redemption-key.ts'
import { checkValidUntil, NO_TERMS, termsWith } from './redemption-terms.ts'
import { type Repeatable, repeatableOf } from './repeatable.ts'

/** POST /api/redemption/: one code or `count` alike; answers their keys, a repeat's too. */
export const createRedemption: Act = (api, deps) => {
  api.post(
    '/api/redemption/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary:
          'Create a redemption code, or count of them; answers their keys, the same ones to ' +
          'a repeat with the same Idempotency-Key header',
        body: CreateRedemption,
        response: { 200: Envelope(Type.Array(Type.String())) },
      },
    },
    async (request, reply) => {
      const { count = 1, key = '', ...fields } = request.body
      const terms = termsWith(NO_TERMS, fields)
      checkValidUntil(terms, NO_TERMS, deps.core.now())
      const repeatable = repeatableOf(deps.core.vault, request, { count, key: key.trim(), terms })
      const keys = keysFor(count, key, repeatable)
      const context = contextOf(deps, request)
      const wanted = { keys, terms, request: repeatable?.request ?? null }
      const position = await makeRedemptions(deps, wanted, context)
      await visibleIn(deps, reply, ['redemptions'], position)
      return success([...keys])
    },
  )
}

function keysFor(count: number, given: string, repeatable: Repeatable | null): readonly string[] {
  if (count <= 0) throw refused('RedemptionCountTooSmall')
  if (count > REDEMPTION_COUNT_MAX) {
    throw refused('RedemptionCountTooLarge', { max: REDEMPTION_COUNT_MAX })
  }
  const key = ownKeyOf(given)
  if (key === '') {
    return Array.from({ length: count }, (_, n) => repeatable?.keyAt(n) ?? newRedemptionKey())
  }
  if (count > 1) throw refused('OneKeyOneCode')
  return [key]
}

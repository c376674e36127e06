import { moneyText } from '#domain/top-up/money.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Amount, AskAmount } from '#write-api/contract/top-up.ts'
import type { Act } from '../act.ts'
import { quoteFor } from './quote.ts'
import { waysToPay } from './ways-to-pay.ts'

/** POST /api/user/amount: what so much quota costs, before it is ordered. */
export const getAmount: Act = (api, parts) => {
  api.post(
    '/api/user/amount',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'What a top-up would cost',
        body: AskAmount,
        response: { 200: Amount },
      },
    },
    async (request) => {
      const ways = await waysToPay(parts.core)
      const { userId } = principalOf(request)
      const { cents, currency } = await quoteFor(parts, ways, userId, request.body)
      return { success: true, message: 'success', data: moneyText(cents), currency }
    },
  )
}

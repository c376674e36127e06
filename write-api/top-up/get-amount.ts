import { moneyText } from '#domain/top-up/money.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Amount, AskAmount } from '#write-api/contract/top-up.ts'
import type { Act } from '../act.ts'
import { paymentMethods } from './payment-methods.ts'
import { quoteFor } from './quote.ts'

/** POST /api/user/amount: what so much quota costs, before it is ordered. */
export const getAmount: Act = (api, deps) => {
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
      const ways = await paymentMethods(deps.core)
      const { userId } = principalOf(request)
      const { cents, currency } = await quoteFor(deps, ways, userId, request.body)
      return { success: true, message: 'success', data: moneyText(cents), currency }
    },
  )
}

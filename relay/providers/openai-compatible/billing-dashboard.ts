import { inHundredths, minus } from '#domain/channel-checks/amount.ts'
import { amountAt, type BalanceQuery, memberAt } from './balance-query.ts'

const SUBSCRIPTION = '/v1/dashboard/billing/subscription'
const DAY_MS = 86_400_000
const DAYS_BACK = 100

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * OpenAI's billing dashboard, which gateways of this family serve too: the limit in dollars less
 * the usage in cents, of this month where the account pays monthly, else of all it had.
 */
export const billingDashboard: BalanceQuery = {
  pathAfter: (answers, now) => {
    const [subscription] = answers
    if (subscription === undefined) return SUBSCRIPTION
    if (answers.length > 1) return null
    const isMonthly = memberAt(subscription, 'has_payment_method') === true
    const from = isMonthly ? `${dayOf(now).slice(0, 7)}-01` : dayOf(now - DAYS_BACK * DAY_MS)
    const until = dayOf(now + DAY_MS)
    return `/v1/dashboard/billing/usage?start_date=${from}&end_date=${until}`
  },
  read: ([subscription = null, usage = null]) => {
    const limit = amountAt(subscription, 'hard_limit_usd')
    const used = amountAt(usage, 'total_usage')
    if (limit === null || used === null) return null
    return { amount: minus(limit, inHundredths(used)), currency: 'USD' }
  },
}

import { type Amount, inHundredths, minus, parseAmount } from '#domain/channel-checks/amount.ts'
import { type ExactJson, isNumber, isObject } from '#domain/shared/json-text.ts'

export type Balance = { readonly amount: Amount; readonly currency: 'USD' | 'CNY' }

/** How a provider is asked what is left of the account that a key belongs to. */
export type BalanceQuery = {
  /** The path to ask next, after these answers; null once nothing is left to ask. */
  readonly pathAfter: (answers: readonly ExactJson[], now: number) => string | null
  readonly keyHeader?: 'api-key'
  /** null when the answers don't say. */
  readonly read: (answers: readonly ExactJson[], baseUrl: string) => Balance | null
}

/** One question, answered with an amount at `place`: names from the outside in. */
export function askedOnce(
  path: string,
  place: readonly string[],
  currency: Balance['currency'] | ((baseUrl: string) => Balance['currency']) = 'USD',
): BalanceQuery {
  return {
    pathAfter: (answers) => (answers.length === 0 ? path : null),
    read: ([answer = null], baseUrl) => {
      const amount = amountAt(answer, ...place)
      if (amount === null) return null
      return { amount, currency: typeof currency === 'string' ? currency : currency(baseUrl) }
    },
  }
}

/** Providers of China count in yuan at their address at home, and in dollars abroad. */
export const yuanAt =
  (host: string) =>
  (baseUrl: string): Balance['currency'] =>
    new URL(baseUrl).hostname === host ? 'CNY' : 'USD'

export function memberAt(value: ExactJson, ...names: readonly string[]): ExactJson {
  let found = value
  for (const name of names) found = isObject(found) ? (found.get(name) ?? null) : null
  return found
}

/** Written as a number or as a text, exactly; null when it is neither. */
export function amountAt(value: ExactJson, ...names: readonly string[]): Amount | null {
  const found = memberAt(value, ...names)
  if (typeof found === 'string') return parseAmount(found)
  return isNumber(found) ? parseAmount(found.numberText) : null
}

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

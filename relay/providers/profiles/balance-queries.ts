import {
  type Amount,
  inHundredths,
  minus,
  parseAmount,
} from '#domain/channel-checks/provider-balance-amount.ts'
import { type ExactJson, isNumber, isObject } from '#domain/shared/lossless-json.ts'

export type Balance = { readonly amount: Amount; readonly currency: 'USD' | 'CNY' }

/** Describes how to read the remaining balance of the account to which a key belongs. */
export type BalanceQuery = {
  /**
   * Returns the path of the next request. The path can depend on the responses so far. Returns null
   * after the last request.
   */
  readonly pathAfter: (answers: readonly ExactJson[], now: number) => string | null
  readonly keyHeader?: 'api-key'
  /** Returns the balance in the responses. Returns null if they contain none. */
  readonly read: (answers: readonly ExactJson[], baseUrl: string) => Balance | null
}

/**
 * Creates a query with a single request. `place` is the path of member names that leads to the
 * amount in the response.
 */
export function singleRequest(
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

/**
 * Returns a function that determines the currency of a Chinese provider: yuan at its domestic host
 * `host`, and dollars at all its other hosts.
 */
export const currencyByHost =
  (host: string) =>
  (baseUrl: string): Balance['currency'] =>
    new URL(baseUrl).hostname === host ? 'CNY' : 'USD'

function memberAt(value: ExactJson, ...names: readonly string[]): ExactJson {
  let member = value
  for (const name of names) member = isObject(member) ? (member.get(name) ?? null) : null
  return member
}

/** Reads an exact amount from a number or a string. Returns null for any other value. */
function amountAt(value: ExactJson, ...names: readonly string[]): Amount | null {
  const amount = memberAt(value, ...names)
  if (typeof amount === 'string') return parseAmount(amount)
  return isNumber(amount) ? parseAmount(amount.numberText) : null
}

const SUBSCRIPTION = '/v1/dashboard/billing/subscription'
const DAY_MS = 86_400_000
const DAYS_BACK = 100

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * Reads OpenAI's billing dashboard, which compatible gateways also offer. The balance is the limit
 * in dollars minus the usage in cents. The usage is that of the current month for an account with a
 * payment method, and that of the last 100 days for any other account.
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

export const deepSeekBalance: BalanceQuery = {
  pathAfter: (answers) => (answers.length === 0 ? '/user/balance' : null),
  // If the response lists two currencies, dollars are used because they need no conversion.
  read: ([answer = null]) => {
    const infos = memberAt(answer, 'balance_infos')
    const entries = Array.isArray(infos) ? infos.filter(isObject) : []
    const entry = entries.find((info) => info.get('currency') === 'USD') ?? entries[0]
    const currency = entry?.get('currency')
    const amount = entry === undefined ? null : amountAt(entry, 'total_balance')
    if (amount === null || (currency !== 'USD' && currency !== 'CNY')) return null
    return { amount, currency }
  },
}

export const openRouterBalance: BalanceQuery = {
  pathAfter: (answers) => (answers.length === 0 ? '/v1/credits' : null),
  read: ([answer = null]) => {
    const bought = amountAt(answer, 'data', 'total_credits')
    const used = amountAt(answer, 'data', 'total_usage')
    if (bought === null || used === null) return null
    return { amount: minus(bought, used), currency: 'USD' }
  },
}

import { optionInteger, optionValue } from '#domain/options/option-registry.ts'
import { readRatios } from '#domain/pricing/read-ratios.ts'
import { QUOTA_MAX, type Quota } from '#domain/shared/quota.ts'
import type { TopUpOrdered } from '#domain/top-ups/events.ts'
import { priceCents, quotaOfDollars } from '#domain/top-ups/money.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import type { AmountRequest } from '#write-api/contract/top-ups.ts'
import type { Deps } from '../action.ts'
import { type PaymentMethods, type PaymentTerms, termsOf } from './payment-methods.ts'
import { topUpError } from './top-up-errors.ts'

/**
 * A requested top-up with its price at the current options. `cents` is the price in hundredths of
 * the currency.
 */
export type Quote = PaymentTerms & {
  readonly cents: bigint
  readonly quota: Quota
  readonly code: TopUpOrdered['data']['code']
}

/**
 * The maximum price of an order through Stripe, in hundredths of the currency. For Epay, it is
 * `CENTS_MAX`, but a gateway may accept less.
 */
const STRIPE_CENTS_MAX = 99_999_999n
const CENTS_MAX = 99_999_999_999n

/** Computes the price of a top-up. Throws if the top-up is not allowed. */
export async function quoteFor(
  deps: Deps,
  methods: PaymentMethods,
  userId: number,
  { amount, top_up_code = '', payment_method = 'zfb' }: AmountRequest,
): Promise<Quote> {
  const { values } = methods
  const terms = termsOf(methods, payment_method)
  const minimum = optionInteger(values, 'MinTopUp')
  if (amount < minimum) throw topUpError('TopUpTooSmall', { least: minimum })
  const code = await codeOf(deps, values, userId, top_up_code.trim())
  const cents = priceCents(amount, terms.price, code?.ratio ?? '1')
  const quota = quotaOfDollars(amount, optionValue(values, 'QuotaPerUnit'))
  const most = terms.provider === 'stripe' ? STRIPE_CENTS_MAX : CENTS_MAX
  if (cents > most || quota > QUOTA_MAX) throw topUpError('TopUpTooLarge')
  if (cents < 1n || quota < 1n) throw topUpError('TopUpTooSmall', { least: amount + 1 })
  return { ...terms, cents, quota, code }
}

const WRONG_CODES_PER_MINUTE_MAX = 10

/**
 * Returns the top-up code with its discount, or null for an empty name. Throws if the code is
 * unknown. Wrong codes are limited, so that codes cannot be guessed.
 */
async function codeOf(
  { core }: Deps,
  values: ReadonlyMap<string, string>,
  userId: number,
  name: string,
): Promise<Quote['code']> {
  if (name === '') return null
  const outcome = await core.limits.enter(`user:${userId}`, [
    {
      kind: 'rate',
      key: `top-up-code:${userId}`,
      max: WRONG_CODES_PER_MINUTE_MAX,
      periodMs: 60_000,
      isRefundable: true,
    },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  const ratio = readRatios(optionValue(values, 'TopUpCodes')).get(name)
  outcome.release({ isRefunded: ratio !== undefined })
  if (ratio === undefined) throw topUpError('TopUpCodeUnknown')
  return { name, ratio }
}

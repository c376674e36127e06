import type { TokenUsage } from '#projections/tokens/query.ts'
import type { QuotaDisplay } from '#relay/views/option-view.ts'
import { isRelayError, type RelayError, relayError } from './canonical/relay-error.ts'
import { authenticate } from './pipeline/authenticate.ts'
import { type Exchange, queryIn, sendError, sendJson } from './pipeline/http-exchange.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'

/** A kind of request by which a client asks for the quota of its own key. */
type QuotaLookUp = 'subscription' | 'usage' | 'token'

const PATHS: ReadonlyMap<string, QuotaLookUp> = new Map([
  ['/v1/dashboard/billing/subscription', 'subscription'],
  ['/v1/dashboard/billing/usage', 'usage'],
  ['/dashboard/billing/subscription', 'subscription'],
  ['/dashboard/billing/usage', 'usage'],
  ['/api/usage/token', 'token'],
  ['/api/usage/token/', 'token'],
])

/** Returns the kind of quota request at a path, or null for any other path. */
export const quotaLookUpAt = (path: string): QuotaLookUp | null => PATHS.get(path) ?? null

/** The limit that clients show for a key without a budget, as in other gateways. */
const UNLIMITED = 100_000_000
/** The factor from dollars to hundredths of a dollar, in which OpenAI's API states the usage. */
const HUNDREDTHS = 100
const UNCACHED = ['Cache-Control', 'no-store, private']

/**
 * Sends the quota that a key has and the quota that it has used. The answer has the format of
 * OpenAI's earlier billing API, which chat clients read, or the format that other gateways use. The
 * stated usage always covers all time, whatever `start_date` and `end_date` are. Clients and other
 * gateways subtract the usage of a month or of 100 days from the limit, and the result must be the
 * quota that is left. If the site does not show the quota of tokens, the answer in OpenAI's format
 * states the quota of the user.
 */
export async function lookUpQuota(
  deps: RelayDeps,
  exchange: Exchange,
  lookUp: QuotaLookUp,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const { tokenId, userId, terms } = caller.token
  const dateError = lookUp === 'usage' ? errorInDates(queryIn(request.url)) : null
  if (dateError !== null) return sendError(exchange, dateError)
  let usage: TokenUsage | null
  try {
    usage = await deps.usageOfToken(userId, tokenId)
  } catch (err) {
    deps.log.error({ err, call: exchange.call }, 'the quota of a key could not be read')
    return sendError(exchange, relayError('store_unavailable', { retryAfter: 5 }))
  }
  // The read model may not include a new token yet.
  if (usage === null) return sendError(exchange, relayError('store_unavailable', { retryAfter: 1 }))
  const { quotaDisplay } = deps.views.options.options
  const expiresAt = terms.expiresAt ?? 0
  if (lookUp === 'token') {
    const models = terms.models ?? []
    const answer = tokenAnswer(usage, models, terms.models !== null, expiresAt)
    return sendJson(exchange, 200, answer, UNCACHED)
  }
  const shown = quotaDisplay.isOfToken ? usage : ofUser(usage)
  const isUnlimited = quotaDisplay.isOfToken && usage.isUnlimited
  const until = quotaDisplay.isOfToken ? expiresAt : 0
  const answer =
    lookUp === 'usage'
      ? { object: 'list', total_usage: inHundredths(shown.used, quotaDisplay) }
      : subscriptionAnswer(isUnlimited ? UNLIMITED : inUnit(totalOf(shown), quotaDisplay), until)
  sendJson(exchange, 200, answer, UNCACHED)
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Reports whether a text is a day such as `2026-11-30`. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  // `Date` turns a date such as February 31 into another day.
  return DAY.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Returns the error in the dates of a query, or null. The two dates may be equal. */
function errorInDates(query: URLSearchParams): RelayError | null {
  const [start, end] = [query.get('start_date'), query.get('end_date')]
  const invalid = (param: string) => relayError('invalid_parameter', { param })
  if (start !== null && !isDay(start)) return invalid('start_date')
  if (end !== null && (!isDay(end) || (start !== null && end < start))) return invalid('end_date')
  return null
}

type Totals = Pick<TokenUsage, 'remain' | 'held' | 'used'>

const ofUser = ({ userBalance, userHeld, userUsed }: TokenUsage): Totals => ({
  remain: userBalance,
  held: userHeld,
  used: userUsed,
})

const totalOf = ({ remain, held, used }: Totals): bigint => remain + held + used

/** Returns quota in the unit in which the site shows it. */
const inUnit = (quota: bigint, { isInDollars, quotaPerDollar }: QuotaDisplay): number =>
  isInDollars ? Number((Number(quota) / quotaPerDollar).toFixed(6)) : Number(quota)

/**
 * Returns quota in hundredths of the unit in which the site shows it. It has four decimals, so that
 * a hundredth of it has the six decimals of `inUnit`.
 */
const inHundredths = (quota: bigint, display: QuotaDisplay): number =>
  Number((inUnit(quota, display) * HUNDREDTHS).toFixed(4))

const subscriptionAnswer = (limit: number, accessUntil: number) => ({
  object: 'billing_subscription',
  has_payment_method: true,
  soft_limit_usd: limit,
  hard_limit_usd: limit,
  system_hard_limit_usd: limit,
  access_until: accessUntil,
})

/**
 * Returns the quota that a token may still use. A token without a budget has none, which
 * `unlimited_quota` tells. Its usage is nevertheless subtracted from 0, or from the budget that it
 * had before. A budget may be overdrawn by work that a provider had already done.
 */
const availableTo = ({ isUnlimited, remain, held }: TokenUsage): bigint => {
  const left = remain + held
  return isUnlimited || left < 0n ? 0n : left
}

const tokenAnswer = (
  usage: TokenUsage,
  models: readonly string[],
  isLimited: boolean,
  expiresAt: number,
) => ({
  code: true,
  message: 'ok',
  data: {
    object: 'token_usage',
    name: usage.name,
    total_granted: Number(usage.isUnlimited ? usage.used : totalOf(usage)),
    total_used: Number(usage.used),
    total_available: Number(availableTo(usage)),
    unlimited_quota: usage.isUnlimited,
    model_limits: Object.fromEntries(models.map((model) => [model, true])),
    model_limits_enabled: isLimited,
    expires_at: expiresAt,
  },
})

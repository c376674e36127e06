import { type HoldTerms, quotaAvailableToToken } from '#domain/accounts/affordable-terms.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { Quota } from '#domain/shared/quota.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'
import type { TimerListener } from './call-deadlines-and-timer.ts'
import { CallLedger } from './call-ledger.ts'
import { checkAccountCanPay } from './check-account-can-pay.ts'
import { claimIdempotencyKey, isKeyed, type KeyedCall } from './claim-idempotency-key.ts'
import { cheaperPlans, cheapestOf, combineAlternatives } from './combine-alternatives.ts'
import type { CallTerms } from './compute-hold-and-output-limit.ts'
import {
  countableVariants,
  isWorthCounting,
  lowestTerms,
  termsForInput,
} from './hold-after-token-count.ts'
import { CALLER_GONE, type Exchange, isCallerGone } from './http-exchange.ts'
import type { CallPlan } from './plan-call-for-one-model-and-group.ts'
import type { RelayDeps } from './relay-deps.ts'

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/** A call whose hold (reserved quota) is durable. */
export type AdmittedCall = {
  readonly ledger: CallLedger
  /**
   * The plan with the terms of the admission. Alternatives that the account can't pay may be left
   * out.
   */
  readonly plan: CallPlan
  /**
   * The exchange with the call's id. For a request with an `Idempotency-Key`, the id is that of the
   * call that claimed the key.
   */
  readonly exchange: Exchange
}

/** If the account can pay the call's input this many times, the text is not tokenized. */
const CLEARLY_AFFORDABLE_CALLS = 20n

/** Reports whether the quota covers the input of the call `CLEARLY_AFFORDABLE_CALLS` times. */
export function isClearlyAffordable(
  { price, terms }: Pick<CallPlan, 'price' | 'terms'>,
  quota: Quota,
): boolean {
  const input = holdFor(price, { ...terms.bounds, outputTokens: 0 })
  return input * CLEARLY_AFFORDABLE_CALLS <= quota
}

/**
 * Reports whether the text need not be tokenized. This is true if the quota clearly suffices (see
 * `isClearlyAffordable`) or the account can't be read. If the quota sufficed in the last seconds,
 * the account is not read again: reading it would cost as much as an append and delay the account's
 * other calls.
 */
async function canSkipCount(
  { actors }: RelayDeps,
  { user, token }: Caller,
  plan: CallPlan,
): Promise<boolean> {
  const stream = accountStream(user.userId)
  const isAffordable = (state: AccountState): boolean =>
    isClearlyAffordable(plan, quotaAvailableToToken(state, token.tokenId))
  if (actors.askRecent(accountDecider, stream, isAffordable) === true) return true
  try {
    return await actors.ask(accountDecider, stream, isAffordable)
  } catch {
    return true
  }
}

/**
 * Admits a call by reserving its worst-case cost on the account (the hold). Once the hold is
 * durable, returns the call's ledger, with which the call must be ended exactly once. Returns an
 * error if the call is not admitted. Alternatives that the account can't pay are left out if it can
 * pay others (see `cheaperPlans`). If the account can't easily pay, the request's tokens are
 * counted, to lower the hold. For a call with a single model and group, the `Idempotency-Key` is
 * claimed only after the count, so a caller who disconnects during the count can use the key again.
 * `upload` is the body as the caller sent it.
 */
export function admit(
  deps: RelayDeps,
  arrived: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
  upload: Buffer,
): Promise<AdmittedCall | RelayError> {
  const [only = { request }, ...others] = plan.alternatives ?? []
  if (others.length > 0) {
    return admitWithAlternatives(deps, arrived, caller, request, { plan, upload })
  }
  return isWorthCounting(only.request, plan)
    ? admitAfterCount(deps, arrived, caller, request, { plan, upload }, only.request)
    : claimKeyAndAdmit(deps, arrived, caller, request, { plan, upload })
}

/**
 * Admits a call with several alternatives. A count of the tokens would lower the hold for one model
 * only. The tokens are therefore counted only if the account can pay none of the alternatives
 * otherwise, and the call is then admitted with the cheapest group for the first model alone. This
 * is a fallback model if no group offers the requested model. The request to this model is counted,
 * because the model decides which output limit applies.
 */
async function admitWithAlternatives(
  deps: RelayDeps,
  arrived: Exchange,
  caller: Caller,
  request: ChatRequest,
  { plan, upload }: PlannedAdmission,
): Promise<AdmittedCall | RelayError> {
  const admitted = await claimKeyAndAdmit(deps, arrived, caller, request, { plan, upload })
  if (!isRelayError(admitted) || !isLackOfQuota(admitted)) return admitted
  const { options } = deps.views.options
  const cheapest = cheapestOf(plan.alternatives ?? [])
  const { request: counted } = cheapest
  const single = combineAlternatives([cheapest], caller, options)
  if (!isWorthCounting(counted, single)) return admitted
  return admitAfterCount(deps, arrived, caller, request, { plan: single, upload }, counted)
}

const isLackOfQuota = ({ code }: RelayError): boolean =>
  code === 'insufficient_quota' || code === 'token_exhausted'

type PlannedAdmission = { readonly plan: CallPlan; readonly upload: Buffer }

/**
 * Claims the request's `Idempotency-Key`, if it has one, and admits the call with the terms of the
 * plan, or of a plan without the alternatives that the account can't pay.
 */
async function claimKeyAndAdmit(
  deps: RelayDeps,
  arrived: Exchange,
  caller: Caller,
  request: ChatRequest,
  { plan, upload }: PlannedAdmission,
): Promise<AdmittedCall | RelayError> {
  if (isCallerGone(arrived)) return CALLER_GONE
  const keyedContent = { work: request.format.name, body: upload }
  const claiming = claimIdempotencyKey(deps, arrived, caller, keyedContent)
  const keyed = claiming instanceof Promise ? await claiming : claiming
  if (keyed !== null && isRelayError(keyed)) return keyed
  const exchange = keyed === null ? arrived : { ...arrived, call: keyed.call }
  const cheaper = cheaperPlans(plan, caller, deps.views.options.options)
  const { price, terms } = plan
  const admission = { price, terms, cheaper }
  const ledger = await admitWithHold(deps, exchange, caller, request, admission, keyed)
  if (isRelayError(ledger)) return ledger
  return { ledger, plan: cheaper[ledger.admittedTerms - 1] ?? plan, exchange }
}

/**
 * Admits a call whose tokens are counted first, unless the account can easily pay for it. `counted`
 * is the request to the model that is to serve the call. Its model differs from that of `request`
 * if this is a fallback model.
 */
async function admitAfterCount(
  deps: RelayDeps,
  arrived: Exchange,
  caller: Caller,
  request: ChatRequest,
  { plan, upload }: PlannedAdmission,
  counted: ChatRequest,
): Promise<AdmittedCall | RelayError> {
  const attempt = (terms: CallTerms): Promise<AdmittedCall | RelayError> =>
    claimKeyAndAdmit(deps, arrived, caller, request, { plan: { ...plan, terms }, upload })
  if (await canSkipCount(deps, caller, plan)) {
    const admitted = await attempt(plan.terms)
    // Other calls may have used the quota meanwhile. A count then shows whether the rest suffices.
    if (!isRelayError(admitted) || !isLackOfQuota(admitted)) return admitted
  }
  const lowest = lowestTerms(deps.views.options, plan)
  const error = await checkAccountCanPay(deps, arrived, caller, request, {
    ...plan,
    terms: lowest,
  })
  // Only an admission detects that a request with an `Idempotency-Key` repeats an admitted call.
  // The admission is therefore attempted even if the account can't pay for another call.
  if (error !== null) return isKeyed(arrived) ? attempt(plan.terms) : error
  const variants = countableVariants(deps.views.options, counted, plan)
  if (variants === null) return attempt(plan.terms)
  const counter = deps.counter.of(caller.user.userId)
  const counts = variants.map(({ body }) => counter.count({ requestBody: body, text: '' }))
  const most = (await Promise.all(counts)).map(({ inputMost }) => inputMost)
  return attempt(termsForInput(deps.views.options, plan, variants, most))
}

type AdmittedRequest = Pick<
  ChatRequest,
  'model' | 'isStream' | 'choices' | 'returnedChoices' | 'reasoningEffort'
>
type AdmittedTerms = Pick<CallPlan, 'price'> & {
  readonly terms: Pick<CallTerms, 'hold' | 'reduction'>
}
type AdmittedPlan = AdmittedTerms & {
  /** The terms to try if the account can't pay the hold (see `cheaperPlans`). */
  readonly cheaper?: readonly AdmittedTerms[]
  /** True for work that the provider has already done (see `AdmitCall`). */
  readonly isOwed?: boolean
}

/**
 * Admits a call with the price and the hold of a plan. Returns an error if the admission fails or
 * takes longer than `deadlines.admitMs`.
 */
export async function admitWithHold(
  { actors, now, vault, deadlines, log, timer }: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  request: AdmittedRequest,
  { isOwed = false, cheaper = NONE_CHEAPER, ...plan }: AdmittedPlan,
  keyed: KeyedCall | null,
): Promise<CallLedger | RelayError> {
  const ledger = new CallLedger(actors, caller, exchange, now, keyed)
  const { userId, settings } = caller.user
  const { reasoningEffort } = request
  try {
    const clientIp = settings.showIpInLogs ? await vault.seal(userId, exchange.clientIp) : null
    const admitting = ledger.admit({
      model: request.model,
      isStream: request.isStream,
      ...holdTermsOf(plan),
      cheaper: cheaper.map(holdTermsOf),
      calls: request.returnedChoices ?? request.choices,
      reasoningEffort,
      leaseMs: deadlines.leaseMs,
      clientIp,
      isOwed,
    })
    const error = await withinAdmitDeadline(admitting, { timer, deadlines })
    if (error !== LATE) return error ?? ledger
    releaseLateAdmission(admitting, ledger)
    warnThrottled(log, { call: exchange.call }, 'the event store is too slow to admit calls')
    return NO_STORE
  } catch (err) {
    // The admission may have been written although the event store failed. The sweeper then ends
    // the call when its lease expires.
    if (err instanceof StoreUnavailable) {
      warnThrottled(log, { reason: err.message, call: exchange.call }, 'calls cannot be admitted')
    } else log.error({ err, call: exchange.call }, 'a call could not be admitted')
    return NO_STORE
  }
}

const NONE_CHEAPER: readonly AdmittedTerms[] = []

const holdTermsOf = ({ price, terms: { hold, reduction } }: AdmittedTerms): HoldTerms =>
  reduction === null ? { hold, price } : { hold, price, reduction }

const LATE = Symbol('late')

/**
 * Waits for the admission for at most `admitMs`. After this time, resolves with `LATE`, and the
 * admission continues.
 */
function withinAdmitDeadline<T>(
  admitting: Promise<T>,
  { timer, deadlines }: Pick<RelayDeps, 'timer' | 'deadlines'>,
): Promise<T | typeof LATE> {
  const lateAt = performance.now() + deadlines.admitMs
  return new Promise((resolve, reject) => {
    const listener: TimerListener = {
      onTick: (at) => {
        if (at > lateAt) resolve(LATE)
        return at <= lateAt
      },
    }
    const entry = timer.add(listener)
    admitting.then(
      (value) => {
        timer.remove(entry)
        resolve(value)
      },
      (err: unknown) => {
        timer.remove(entry)
        reject(err)
      },
    )
  })
}

/**
 * Releases the hold if the admission succeeds after the caller has received an error. If the
 * release fails, the sweeper of expired calls ends the call.
 */
function releaseLateAdmission(admitting: Promise<RelayError | null>, ledger: CallLedger): void {
  const reason = 'refused' as const
  const late = { channelId: null, reason, errorCode: 'store_unavailable', statusCode: 503 }
  admitting
    .then(async (error) => {
      if (error === null) await ledger.release(late, { attempts: [], firstByteMs: null })
    })
    .catch(() => {})
}

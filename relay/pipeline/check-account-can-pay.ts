import type { AdmitCall } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'
import { admissionError } from './call-ledger.ts'
import { alternativesOfFirstModel } from './combine-alternatives.ts'
import type { CallTerms } from './compute-hold-and-output-limit.ts'
import type { Exchange } from './http-exchange.ts'
import type { CallPlan } from './plan-call-for-one-model-and-group.ts'
import type { RelayDeps } from './relay-deps.ts'

type CheckedRequest = Pick<ChatRequest, 'model' | 'isStream' | 'choices' | 'returnedChoices'>
type CheckedPlan = Pick<CallPlan, 'price'> & {
  readonly terms: Pick<CallPlan['terms'], 'hold' | 'reduction'>
}

/**
 * Returns the error with which the account would refuse the call now, an error if the event store
 * is unavailable, or null. This check saves expensive work for callers who can't pay. The later
 * admission makes the final decision.
 */
export async function checkAccountCanPay(
  { actors }: Pick<RelayDeps, 'actors'>,
  { call, startedAt }: Exchange,
  { user, token, group }: Caller,
  { model, isStream, choices, returnedChoices: calls = choices }: CheckedRequest,
  { terms: { hold, reduction }, price }: CheckedPlan,
): Promise<RelayError | null> {
  const { userId } = user
  const ids = { userId, tokenId: token.tokenId, call }
  const terms = { group, model, isStream, hold, price, calls, clientIp: null }
  const times = { startedAt, leaseUntil: startedAt }
  const fit = reduction === null ? {} : { reduction }
  const command: AdmitCall = { type: 'AdmitCall', ...ids, ...terms, ...times, ...fit }
  try {
    return await actors.ask(accountDecider, accountStream(userId), (state) => {
      const outcome = accountDecider.decide(command, state)
      return 'code' in outcome ? admissionError(outcome, call, false) : null
    })
  } catch (err) {
    if (err instanceof StoreUnavailable) return relayError('store_unavailable', { retryAfter: 5 })
    throw err
  }
}

/**
 * Like `checkAccountCanPay`, for a plan that may have alternatives. `termsOf` returns the terms to
 * check. It is enough that the account can pay one of the groups for the first model, because the
 * admission leaves out what the account can't pay (see `cheaperPlans`).
 */
export async function checkPlanIsPayable(
  deps: Pick<RelayDeps, 'actors'>,
  exchange: Exchange,
  caller: Caller,
  request: CheckedRequest,
  plan: CallPlan,
  termsOf: (plan: CallPlan) => CallTerms,
): Promise<RelayError | null> {
  const { alternatives } = plan
  const plans = alternatives === undefined ? [plan] : alternativesOfFirstModel(alternatives)
  let first: RelayError | null = null
  for (const { price, ...others } of plans) {
    const terms = termsOf({ price, ...others })
    const error = await checkAccountCanPay(deps, exchange, caller, request, { price, terms })
    if (error === null) return null
    first ??= error
  }
  return first
}

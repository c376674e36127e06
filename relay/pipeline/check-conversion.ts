import { channelsIn } from '#domain/routing/channels-by-group-and-model.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { serves } from '../views/channel-view.ts'
import { anyChannelOncePerModel } from './any-channel-once-per-model.ts'
import type { Caller } from './authenticate.ts'
import { checkAccountCanPay } from './check-account-can-pay.ts'
import { isKeyed } from './claim-idempotency-key.ts'
import { isConversionFailure } from './convert-request.ts'
import { lowestTerms } from './hold-after-token-count.ts'
import type { Exchange } from './http-exchange.ts'
import { outputLimitsOf } from './output-limits-of-call.ts'
import type { CallPlan } from './plan-call-for-one-model-and-group.ts'
import { conversionErrorAt } from './prepare-request-for-channel.ts'
import type { RelayDeps } from './relay-deps.ts'

/** The maximum number of channels for which a conversion is tried before the admission. */
const CHANNELS_TRIED_MAX = 4
/**
 * The maximum number of bytes of a request that is converted without a check that its caller can
 * pay. Converting a longer request takes time.
 */
const UNPAID_BYTES_MAX = 64 * 1024

/**
 * Returns an error if no channel for the call's model and group has a format that can express the
 * request. A request with this error is refused before any quota is held for it. Returns null if
 * the request can be sent, if this can't be decided by trying the first `CHANNELS_TRIED_MAX`
 * channels, or if another model or group may serve the call. A large request that must be converted
 * also gets an error if its caller can't pay, unless it has an `Idempotency-Key`. A conversion that
 * succeeds is cached for the attempt.
 */
export function checkConversion(
  deps: Pick<RelayDeps, 'actors' | 'views'>,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
): RelayError | null | Promise<RelayError | null> {
  const { format, model, body } = request
  // Another model or group with which the call may be served may need no conversion.
  if (plan.alternatives !== undefined) return null
  if (!format.isCompaction && isServedWithoutConversion(plan.offer, format.name, model)) return null
  if (body.length <= UNPAID_BYTES_MAX) return conversionError(deps, request, plan)
  const terms = lowestTerms(deps.views.options, plan)
  const checking = checkAccountCanPay(deps, exchange, caller, request, { ...plan, terms })
  return checking.then((error) => {
    if (error === null) return conversionError(deps, request, plan)
    // Only an admission detects that a request with an `Idempotency-Key` repeats an admitted call,
    // so such a request is not refused here.
    return isKeyed(exchange) ? null : error
  })
}

/** Reports whether at least one channel serves the model in the caller's format. */
const isServedWithoutConversion = anyChannelOncePerModel(serves)

function conversionError(
  { views }: Pick<RelayDeps, 'views'>,
  request: ChatRequest,
  { offer, terms, isOverridden }: CallPlan,
): RelayError | null {
  const { options } = views.options
  const limits = outputLimitsOf(options, request, terms, null)
  const preparation = { isOverridden, limits, adapters: options.adapters }
  let refusal: RelayError | null = null
  let tried = 0
  for (const channel of channelsIn(offer)) {
    tried += 1
    if (tried > CHANNELS_TRIED_MAX) return null
    const error = conversionErrorAt(channel, request, preparation)
    if (error === null) return null
    if (isConversionFailure(error)) refusal = error
  }
  return refusal
}

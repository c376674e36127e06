import { DENIAL_ANSWERS } from '#relay/canonical/denial-answers.ts'
import { type ErrorBody, providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type Denial, type DenialCode, deny } from '../canonical/denial.ts'
import { confidentialTo } from '../views/channel-view.ts'
import { accountCodeIn, accountFaultOf } from './account-fault.ts'
import type { AttemptEnd, AttemptError } from './call-upstream.ts'
import { type Exchange, errorEvent, sendDenial, sendJson } from './exchange.ts'
import type { Candidate } from './plan-call.ts'

/** What the caller is told of a call that came to nothing. */
export type FailureAnswer = {
  readonly reason: 'client-gone' | 'no-channel'
  readonly errorCode: string
  readonly status: number
  readonly retryAfterMs: number
} & (
  | { readonly denial: Denial }
  /** The provider's own error, fit for the caller's eyes. */
  | { readonly body: ErrorBody }
)

/** Our own words for a provider's failure. */
export const DENIAL_OF: Record<AttemptError, DenialCode> = {
  status: 'upstream_error',
  'error-event': 'upstream_error',
  connect: 'upstream_unreachable',
  format: 'upstream_format',
  timeout: 'upstream_timeout',
  cut: 'upstream_incomplete',
  'too-large': 'upstream_format',
  draining: 'draining',
  // The call itself knows the reason.
  revoked: 'user_disabled',
  screened: 'sensitive_answer',
  'balance-spent': 'balance_spent',
  'over-limit': 'output_limit_ignored',
  'caller-gone': 'upstream_incomplete',
}

/** nginx's number for a caller that left; it is only ever written to the ledger. */
const CALLER_GONE = 499

type Circumstances = {
  readonly isHidden: boolean
  readonly isCallerGone: boolean
  /** Said when no channel was tried; null: one was. */
  readonly unserved: Denial | null
}

/** For callers that left: nobody reads it. */
const NO_CHANNEL = deny('no_channel')

export function failureOf(
  candidate: Candidate | null,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null,
  { isHidden, isCallerGone, unserved }: Circumstances,
): FailureAnswer {
  const reason = isCallerGone ? 'client-gone' : 'no-channel'
  if (isCallerGone || end === null || candidate === null) {
    const denial = unserved ?? NO_CHANNEL
    const status = isCallerGone ? CALLER_GONE : DENIAL_ANSWERS[denial.denied].status
    const errorCode = isCallerGone ? 'client_gone' : denial.denied
    return { reason, errorCode, status, retryAfterMs: 0, denial }
  }
  const { error, status, retryAfterMs } = end
  if (error !== 'status' && error !== 'error-event') {
    const denial = deny(DENIAL_OF[error], retryAfterMs > 0 ? { retryAfterSeconds: 1 } : {})
    const { status: shown } = DENIAL_ANSWERS[denial.denied]
    return { reason, errorCode: denial.denied, status: shown, retryAfterMs, denial }
  }
  const mapped = candidate.channel.rules.statuses.get(status ?? 0)
  // NOTE: a provider's 401 is about our key. Passed on, it would tell the caller to mend his own.
  const isAccounts = accountFaultOf(end) !== null || accountCodeIn(end.body) !== null
  if (mapped === undefined && isAccounts) {
    const denial = deny('upstream_account')
    const { status: shown } = DENIAL_ANSWERS.upstream_account
    return { reason, errorCode: denial.denied, status: shown, retryAfterMs: 0, denial }
  }
  const isFault = status !== null && status >= 400 && status <= 599
  const shown = mapped ?? (isFault ? status : 502)
  const known = confidentialOf(candidate)
  const body = providerErrorBody(end.body, status ?? 502, { isHidden, known })
  return { reason, errorCode: `upstream_${error}`, status: shown, retryAfterMs, body }
}

/** What nobody may read in a provider's words: also the name that a mapping gave the model. */
export const confidentialOf = ({ channel, upstreamModel }: Candidate): readonly string[] =>
  upstreamModel === null ? confidentialTo(channel) : [...confidentialTo(channel), upstreamModel]

export function answerFailure(exchange: Exchange, failure: FailureAnswer): void {
  const { response } = exchange
  // Pings have begun the answer: what went wrong can only be said inside it.
  if (response.headersSent) {
    if ('denial' in failure) response.end(errorEvent(exchange, failure.denial.denied))
    else response.end(`data: ${JSON.stringify(failure.body)}\n\n`)
    return
  }
  if ('denial' in failure) return sendDenial(exchange, failure.denial)
  const seconds = Math.ceil(failure.retryAfterMs / 1_000)
  const headers = seconds > 0 ? ['Retry-After', `${seconds}`] : []
  sendJson(exchange, failure.status, failure.body, headers)
}

import { isFull, type Permit } from '#infra/limits/port.ts'
import {
  type CallRules,
  claimsOf,
  NO_RULES,
  type TokensRule,
} from '#relay/limits/call-limit-claims.ts'
import {
  callRules,
  type LimitedCaller,
  type ModelCalls,
  modelRules,
  tokenRules,
} from '#relay/limits/call-limit-rules.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'
import type { RelayDeps } from './relay-deps.ts'

export type CallOutcome = {
  readonly isSuccess: boolean
  /** The tokens that were used. Null if the estimate stays reserved, because they are not known. */
  readonly tokens: number | null
}

export type Sized = Pick<ChatRequest, 'outputTokensMax' | 'choices'> & {
  readonly body: { readonly length: number }
  /** The model whose limits apply. Null for a request that calls no model, such as a look-up. */
  readonly model: string | null
}

const BYTES_PER_TOKEN = 4
const TOKENS_PERIOD_MS = 60_000

/**
 * Acquires a permit for a call. The limit of this process is checked first. After that, the limits
 * that all relay processes share are checked: those of the user, the token and the model.
 */
export async function acquirePermit(
  deps: RelayDeps,
  caller: Caller,
  request: Sized,
): Promise<CallPermit | RelayError> {
  const permit = permitWithoutLimits(deps, caller, request)
  if (isRelayError(permit)) return permit
  const error = await permit.enter(request.model)
  if (error === null) return permit
  deps.underWay.release()
  return error
}

/**
 * Returns a permit that only the limit of this process bounds, for a call that a provider began by
 * itself. Such a call must be charged, whatever limits its caller has.
 */
export function permitWithoutLimits(
  deps: RelayDeps,
  caller: Caller,
  request: Sized,
): CallPermit | RelayError {
  if (deps.underWay.enter()) return new CallPermit(deps, caller, request)
  return relayError('overloaded', { retryAfter: 1 + Math.floor(Math.random() * 3) })
}

/** Reports whether an error is that of a limit of calls, which ends by itself. */
export const isLimitError = ({ code }: RelayError): boolean =>
  code === 'rate_limited' || code === 'too_many_concurrent'

/** A permit for one running call. It must be released exactly once, when the call ends. */
export class CallPermit {
  private readonly deps: RelayDeps
  private readonly caller: Caller
  private readonly tokens: number
  private readonly models = new Set<string>()
  private readonly permits: Permit[] = []

  constructor(deps: RelayDeps, caller: Caller, request: Sized) {
    this.deps = deps
    this.caller = caller
    this.tokens = estimateOf(request)
  }

  /** Claims what the call needs to begin. If an error is returned, nothing is claimed. */
  enter(model: string | null): Promise<RelayError | null> {
    const { tokens } = this
    const rules = callRules(this.limited, tokens)
    if (model === null) return this.claim([rules])
    this.models.add(model)
    return this.claim([rules, modelRules(this.limited, { model, calls: 1, tokens })])
  }

  /**
   * Claims the limits of another model, before it is tried in place of the model of the request. If
   * an error is returned, nothing is claimed, and the model must not be tried.
   */
  async claimModel(model: string): Promise<RelayError | null> {
    const rules = modelRules(this.limited, { model, calls: 1, tokens: this.tokens })
    const error = await this.claim([rules])
    if (error === null) this.models.add(model)
    return error
  }

  /** Reports whether the limits of the model are claimed. */
  covers(model: string): boolean {
    return this.models.has(model)
  }

  /**
   * Claims the limits of a batch whose lines have been read. Each line counts as a call of its
   * model, and its tokens count towards all limits on tokens.
   */
  async claimBatch(all: readonly ModelCalls[]): Promise<RelayError | null> {
    const { limited } = this
    const rules = all.map((calls) => modelRules(limited, calls))
    for (const [index, { tokens }] of rules.entries()) {
      const tooMany = (all[index]?.calls ?? 0) > 1 ? tokens.find(exceedsLimit) : undefined
      if (tooMany === undefined) continue
      const { errorFor } = claimsOf([{ ...NO_RULES, tokens: [tooMany] }])
      return errorFor({ full: 0, waitMs: TOKENS_PERIOD_MS })
    }
    const tokens = all.reduce((sum, calls) => sum + calls.tokens, 0)
    return this.claim([{ ...NO_RULES, tokens: tokenRules(limited, tokens) }, ...rules])
  }

  release({ isSuccess, tokens }: CallOutcome): void {
    this.deps.underWay.release()
    const used = tokens === null ? {} : { tokens }
    for (const permit of this.permits) permit.release({ isRefunded: !isSuccess, ...used })
  }

  private async claim(rules: readonly CallRules[]): Promise<RelayError | null> {
    const { claims, errorFor } = claimsOf(rules)
    if (claims.length === 0) return null
    const entering = this.deps.limits.enter(`user:${this.caller.user.userId}`, claims)
    const permit = entering instanceof Promise ? await entering : entering
    if (isFull(permit)) return errorFor(permit)
    this.permits.push(permit)
    return null
  }

  private get limited(): LimitedCaller {
    const { deps, caller } = this
    const { token, user, group } = caller
    const { userRate } = deps.views.options.options
    return { userId: user.userId, group, token, userRate, caps: deps.caps }
  }
}

/** A single call may exceed a limit on tokens in an empty minute. Many calls together may not. */
const exceedsLimit = ({ max, estimate }: TokensRule): boolean => estimate > max

/** Estimates the tokens of a call: the input from the request's length, plus all allowed output. */
export const estimateOf = ({
  body,
  outputTokensMax,
  choices,
}: Pick<Sized, 'body' | 'outputTokensMax' | 'choices'>): number =>
  Math.ceil(body.length / BYTES_PER_TOKEN) + (outputTokensMax ?? 0) * choices

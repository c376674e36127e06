import { type Claim, type Full, isFull, type Permit } from '#infra/limits/port.ts'
import {
  type CallRules,
  claimsOf,
  NO_RULES,
  type Refusal,
} from '#relay/limits/call-limit-claims.ts'
import {
  callRules,
  groupRules,
  type LimitedCaller,
  limitedGroupOf,
  type ModelCalls,
  modelRules,
} from '#relay/limits/call-limit-rules.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'
import { servingGroupsOf } from './groups-that-may-serve-call.ts'
import type { RelayDeps } from './relay-deps.ts'

/** The facts about the end of a call that decide how it counts towards the limits. */
export type CallOutcome = {
  /**
   * True if the provider answered, even if the caller did not read the answer to the end. Callers
   * could otherwise evade limits on successful calls by disconnecting just before the end.
   */
  readonly isSuccess: boolean
  /**
   * The number of AI tokens that the call used, or null if it is unknown. If it is null, the tokens
   * that were estimated before the call continue to count towards the limits.
   */
  readonly tokens: number | null
}

/** The members of a request from which its tokens are estimated. */
export type SizedRequest = Pick<ChatRequest, 'outputTokensMax' | 'choices'> & {
  readonly body: { readonly length: number }
  /** The model whose limits apply. Null for a request that calls no model, such as a look-up. */
  readonly model: string | null
}

/** The size of a request that calls no model, or of a batch whose lines have not been read yet. */
export const CALLS_NO_MODEL: SizedRequest = {
  ...{ body: { length: 0 }, outputTokensMax: 0, choices: 1, model: null },
}

/** A model and a group with which a call may be served. */
type Service = { readonly model: string; readonly group: string }

const BYTES_PER_TOKEN = 4

/**
 * Acquires a permit for a call. This process's own limit on running calls is checked first. After
 * that, the limits of the user, the token, the model and the group are checked. These limits also
 * count calls in other relay processes, if there are any. `groups` lists the groups that may serve
 * the call, in the order in which they are tried. The permit's `group` is the first group in this
 * list whose limits are not reached. Returns an error if a limit refuses the call. The result is a
 * promise only if the limits are shared with other processes.
 */
export function acquirePermit(
  deps: RelayDeps,
  caller: Caller,
  request: SizedRequest,
  groups: readonly string[] = servingGroupsOf(caller, deps.views),
): CallPermit | RelayError | Promise<CallPermit | RelayError> {
  const permit = permitWithoutLimits(deps, caller, request)
  if (isRelayError(permit)) return permit
  return claimInitialLimits(deps, permit, request, groups)
}

/**
 * Claims the limits that a call must pass to begin. Returns the permit, or the error for the
 * caller. If a limit is reached or an exception is thrown, the call no longer counts as running in
 * this process.
 */
export function claimInitialLimits<P extends CallPermit>(
  { runningCallCount }: RelayDeps,
  permit: P,
  { model }: SizedRequest,
  groups: readonly string[],
): P | RelayError | Promise<P | RelayError> {
  const finish = (error: RelayError | null): P | RelayError => {
    if (error !== null) runningCallCount.release()
    return error ?? permit
  }
  const fail = (error: unknown): never => {
    runningCallCount.release()
    throw error
  }
  try {
    const claiming = permit.claimInitial(model, groups)
    return claiming instanceof Promise ? claiming.then(finish, fail) : finish(claiming)
  } catch (error) {
    return fail(error)
  }
}

/**
 * Returns a permit, or an error if this process's limit on running calls is reached. No other limit
 * is checked. The permit is for a response that the provider began by itself in a realtime session.
 * Such a response must be charged, even if its caller has reached a limit.
 */
export function permitWithoutLimits(
  deps: RelayDeps,
  caller: Caller,
  request: SizedRequest,
): CallPermit | RelayError {
  return deps.runningCallCount.enter() ? new CallPermit(deps, caller, request) : overloadedError()
}

/**
 * Returns the error for a call above the limit of this process. The retry delay is random, so that
 * rejected callers do not all retry at the same time.
 */
export const overloadedError = (): RelayError =>
  relayError('overloaded', { retryAfter: 1 + Math.floor(Math.random() * 3) })

/**
 * Reports whether an error says that a limit on calls is reached. After such an error, a later
 * retry can succeed.
 */
export const isLimitError = ({ code }: RelayError): boolean =>
  code === 'rate_limited' || code === 'too_many_concurrent'

/** A permit for one running call. It must be released exactly once, when the call ends. */
export class CallPermit {
  /**
   * The first group whose limits were not reached, or the caller's group if no limits were claimed.
   * If the group's channels fail, another group may serve the call.
   */
  group: string
  private readonly deps: RelayDeps
  private readonly caller: Caller
  protected readonly tokens: number
  // Nearly every call has one model and one group. For so few entries, lists are cheaper than sets.
  private readonly models: string[] = []
  /**
   * The groups whose limits are claimed. Null stands for the site's general limits, which apply to
   * all groups without limits of their own.
   */
  private readonly groups: (string | null)[] = []
  /** The errors of the groups whose limit is reached. The call does not use these groups. */
  private groupErrors: Map<string, RelayError> | null = null
  protected readonly permits: Permit[] = []
  /** The length of `permits` before the last `claimBatch`. */
  private beforeBatch = 0
  private isReleased = false

  constructor(deps: RelayDeps, caller: Caller, request: SizedRequest) {
    this.deps = deps
    this.caller = caller
    this.group = caller.group
    this.tokens = estimateTokensOf(request)
  }

  /**
   * Claims the limits that the call must pass to begin. If an error is returned, nothing is
   * claimed.
   */
  claimInitial(
    model: string | null,
    candidates: readonly string[],
  ): RelayError | null | Promise<RelayError | null> {
    const { tokens, limited, caller } = this
    const groups = candidates.length === 0 ? [caller.group] : candidates
    const { byGroup } = limited.userRate
    const isOfCaller = !groups.includes(caller.group) && byGroup.has(caller.group)
    const callerGroupLimits = isOfCaller ? groupRules(limited, caller.group, tokens) : NO_RULES
    return this.claimFirst(model, groups, [callRules(limited, tokens), callerGroupLimits])
  }

  /**
   * Finds the first group in the list whose limits are not reached. Claims this group's limits, the
   * model's limits and the limits in `shared`. Returns the error if every group has reached its
   * limits or if another limit is reached.
   */
  private claimFirst(
    model: string | null,
    [group, ...others]: readonly string[],
    shared: readonly CallRules[],
  ): RelayError | null | Promise<RelayError | null> {
    if (group === undefined) return errorWithShortestDelay([...(this.groupErrors?.values() ?? [])])
    const { tokens, limited } = this
    const groupLimits = groupRules(limited, group, tokens)
    const modelLimits =
      model === null ? NO_RULES : modelRules(limited, group, { model, calls: 1, tokens })
    const finish = (refusal: Refusal | null): RelayError | null | Promise<RelayError | null> => {
      if (refusal === null) {
        this.note(model, group)
        this.group = group
        return null
      }
      if (refusal.rules !== groupLimits) return refusal.error
      this.noteGroupError(group, refusal.error)
      return this.claimFirst(model, others, shared)
    }
    const claiming = this.claim([...shared, groupLimits, modelLimits])
    return claiming instanceof Promise ? claiming.then(finish) : finish(claiming)
  }

  /** Reports whether the limits of the model and the group are claimed. */
  covers({ model, group }: Service): boolean {
    return this.isModelClaimed(model, group) && this.isGroupClaimed(group)
  }

  /**
   * Claims the limits of another model or group before the call is tried with this model and group.
   * If an error is returned, nothing is claimed, and this model must not be tried in this group.
   */
  async claimService({ model, group }: Service): Promise<RelayError | null> {
    const groupError = this.groupErrorOf(group)
    if (groupError !== null) return groupError
    const { tokens, limited } = this
    const groupLimits = this.isGroupClaimed(group) ? NO_RULES : groupRules(limited, group, tokens)
    const modelLimits = this.isModelClaimed(model, group)
      ? NO_RULES
      : modelRules(limited, group, { model, calls: 1, tokens })
    const refusal = await this.claim([groupLimits, modelLimits])
    if (refusal === null) this.note(model, group)
    else if (refusal.rules === groupLimits) this.noteGroupError(group, refusal.error)
    return refusal?.error ?? null
  }

  /**
   * Claims the limits of a batch whose lines have been read. Each line counts as a call of its
   * model, and the tokens of all lines count towards all limits on tokens. The error says whether
   * the batch can be submitted later, or whether it would exceed a limit even without other calls.
   */
  async claimBatch(group: string, all: readonly ModelCalls[]): Promise<RelayError | null> {
    const groupError = this.groupErrorOf(group)
    if (groupError !== null) return groupError
    const { limited } = this
    const allModelLimits = all.map((calls) => modelRules(limited, group, calls))
    const lines = all.reduce((total, { calls }) => total + calls, 0)
    const sum = all.reduce((total, { tokens }) => total + tokens, 0)
    const { tokens } = callRules(limited, sum)
    const rules = groupRules(limited, group, sum)
    const multiCallLimits = allModelLimits.filter((_, index) => (all[index]?.calls ?? 0) > 1)
    const tokenLimits = { ...NO_RULES, tokens }
    const bounds = [...multiCallLimits, ...(lines > 1 ? [tokenLimits, rules] : [])]
    const { claims, refusalFor } = claimsOf(bounds)
    const exceeded = claims.findIndex(exceedsLimit)
    if (exceeded >= 0) {
      const { params } = refusalFor({ full: exceeded, waitMs: 0 }).error
      return relayError('batch_above_limit', params)
    }
    const groupLimits = this.isGroupClaimed(group) ? { ...NO_RULES, tokens: rules.tokens } : rules
    this.beforeBatch = this.permits.length
    const refusal = await this.claim([tokenLimits, groupLimits, ...allModelLimits])
    return refusal?.error ?? null
  }

  /**
   * Releases the claims of the last `claimBatch`. Called if the group turns out to be unable to
   * serve the batch.
   */
  releaseBatch(): void {
    for (const permit of this.permits.splice(this.beforeBatch)) {
      permit.release({ isRefunded: true, tokens: 0 })
    }
  }

  /** Returns the error of a group whose limit was reached when the call began, or null. */
  groupErrorOf(group: string): RelayError | null {
    return this.groupErrors?.get(group) ?? null
  }

  private noteGroupError(group: string, error: RelayError): void {
    this.groupErrors ??= new Map()
    this.groupErrors.set(group, error)
  }

  release({ isSuccess, tokens }: CallOutcome): void {
    this.isReleased = true
    this.deps.runningCallCount.release()
    const used = tokens === null ? {} : { tokens }
    for (const permit of this.permits) permit.release({ isRefunded: !isSuccess, ...used })
  }

  protected claim(rules: readonly CallRules[]): Refusal | null | Promise<Refusal | null> {
    return this.claimInto(this.permits, rules)
  }

  /**
   * Claims the limits in `rules`. If `partOf` is not null, it selects the limits to claim from each
   * element of `rules`. A refusal contains the whole element of `rules` that has the reached limit.
   * Returns a promise only if the limits are shared with other processes.
   */
  protected claimInto(
    permits: Permit[],
    rules: readonly CallRules[],
    partOf: ((rules: CallRules) => CallRules) | null = null,
  ): Refusal | null | Promise<Refusal | null> {
    const parts = partOf === null ? rules : rules.map(partOf)
    const { claims, refusalFor } = claimsOf(parts)
    if (claims.length === 0) return null
    const finish = (permit: Permit | Full): Refusal | null => {
      if (!isFull(permit)) {
        this.keep(permits, permit)
        return null
      }
      const refusal = refusalFor(permit)
      return { ...refusal, rules: rules[parts.indexOf(refusal.rules)] ?? NO_RULES }
    }
    const entering = this.deps.limits.enter(`user:${this.caller.user.userId}`, claims)
    return entering instanceof Promise ? entering.then(finish) : finish(entering)
  }

  /**
   * Stores a permit until the call ends. If the call has already ended, the permit is released at
   * once, because nothing else would release it.
   */
  private keep(permits: Permit[], permit: Permit): void {
    if (this.isReleased) permit.release({ isRefunded: true, tokens: 0 })
    else permits.push(permit)
  }

  private note(model: string | null, group: string): void {
    if (model !== null && !this.isExempt(group)) this.models.push(model)
    this.groups.push(limitedGroupOf(this.limited.userRate, group))
  }

  private isModelClaimed(model: string, group: string): boolean {
    return this.models.includes(model) || this.isExempt(group)
  }

  /** Reports whether a group's calls are exempt from the limits of groups and models. */
  private isExempt(group: string): boolean {
    return this.limited.userRate.exemptGroup === group
  }

  private isGroupClaimed(group: string): boolean {
    return this.groups.includes(limitedGroupOf(this.limited.userRate, group))
  }

  protected get limited(): LimitedCaller {
    const { deps, caller } = this
    const { userRate } = deps.views.options.options
    return { userId: caller.user.userId, token: caller.token, userRate, caps: deps.concurrencyCaps }
  }
}

/** Returns the error with the shortest delay before a retry; null for an empty list. */
const errorWithShortestDelay = (errors: readonly RelayError[]): RelayError | null =>
  errors.toSorted((one, other) => (one.retryAfter ?? 0) - (other.retryAfter ?? 0))[0] ?? null

/**
 * Reports whether a batch would exceed a limit on calls or tokens even without other calls, so that
 * it would be refused at any time. A single call may exceed a limit on tokens if no other call has
 * used tokens in the last minute. A batch of several calls may not.
 */
const exceedsLimit = (claim: Claim): boolean =>
  claim.kind === 'tokens'
    ? claim.estimate > claim.max
    : claim.kind === 'rate' && (claim.count ?? 1) > claim.max

/** Estimates the tokens of a call: the input from the request's length, plus all allowed output. */
export const estimateTokensOf = ({
  body,
  outputTokensMax,
  choices,
}: Pick<SizedRequest, 'body' | 'outputTokensMax' | 'choices'>): number =>
  Math.ceil(body.length / BYTES_PER_TOKEN) + (outputTokensMax ?? 0) * choices

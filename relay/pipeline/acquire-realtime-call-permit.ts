import type { Permit } from '#infra/limits/port.ts'
import { type CallRules, NO_RULES, type Refusal } from '#relay/limits/call-limit-claims.ts'
import { callRules, groupRules, modelRules } from '#relay/limits/call-limit-rules.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import {
  type CallOutcome,
  CallPermit,
  claimInitialLimits,
  overloadedError,
  type SizedRequest,
} from './acquire-call-permit.ts'
import type { Caller } from './authenticate.ts'
import { servingGroupsOf } from './groups-that-may-serve-call.ts'
import type { RelayDeps } from './relay-deps.ts'

const withoutConcurrency = (rules: CallRules): CallRules => ({ ...rules, permits: [] })
const onlyConcurrency = ({ permits }: CallRules): CallRules => ({ ...NO_RULES, permits })

/**
 * Acquires a permit for a call in a realtime session before the call's response begins. If another
 * call of the session is still running, the limits on concurrent calls do not count the new call
 * yet: see `RealtimeCallPermit`.
 */
export async function acquireRealtimeCallPermit(
  deps: RelayDeps,
  caller: Caller,
  request: SizedRequest,
  isOtherCallRunning: boolean,
): Promise<RealtimeCallPermit | RelayError> {
  const permit = new RealtimeCallPermit(deps, caller, request, !isOtherCallRunning)
  if (!deps.runningCallCount.enter()) return overloadedError()
  return claimInitialLimits(deps, permit, request, servingGroupsOf(caller, deps.views))
}

/**
 * The permit of a call in a realtime session. The call is admitted before its response begins. The
 * limits on concurrent calls count each running response of a session. While no response is
 * running, they count the session as one call. The limits on concurrent calls are claimed
 * separately from all other limits, so that the next call of the session can take over these
 * claims.
 */
export class RealtimeCallPermit extends CallPermit {
  private countsConcurrency: boolean
  private readonly concurrency: Permit[] = []
  private readonly model: string | null

  constructor(deps: RelayDeps, caller: Caller, request: SizedRequest, countsConcurrency: boolean) {
    super(deps, caller, request)
    this.model = request.model
    this.countsConcurrency = countsConcurrency
  }

  /**
   * Makes the limits on concurrent calls count this call, unless they already do. Returns an error
   * if one of these limits is reached; otherwise null.
   */
  async claimConcurrency(): Promise<RelayError | null> {
    if (this.countsConcurrency) return null
    const { limited, group, model, tokens } = this
    const ofCall = [callRules(limited, tokens), groupRules(limited, group, tokens)]
    const modelLimits =
      model === null ? [] : [modelRules(limited, group, { model, calls: 1, tokens })]
    const rules = [...ofCall, ...modelLimits]
    const refusal = await this.claimInto(this.concurrency, rules, onlyConcurrency)
    if (refusal !== null) return refusal.error
    this.countsConcurrency = true
    return null
  }

  /**
   * Takes over another call's claims on the limits on concurrent calls, because the other call ends
   * now. Does nothing if this call already has such claims.
   */
  takeOver(other: RealtimeCallPermit): void {
    if (this.countsConcurrency || !other.countsConcurrency) return
    this.countsConcurrency = true
    this.concurrency.push(...other.concurrency.splice(0))
  }

  override release(outcome: CallOutcome): void {
    super.release(outcome)
    this.releaseConcurrency()
  }

  protected override async claim(rules: readonly CallRules[]): Promise<Refusal | null> {
    const refusal = this.countsConcurrency
      ? await this.claimInto(this.concurrency, rules, onlyConcurrency)
      : null
    if (refusal !== null) return refusal
    const other = await this.claimInto(this.permits, rules, withoutConcurrency)
    if (other !== null) this.releaseConcurrency()
    return other
  }

  private releaseConcurrency(): void {
    for (const permit of this.concurrency.splice(0)) permit.release({ isRefunded: false })
  }
}

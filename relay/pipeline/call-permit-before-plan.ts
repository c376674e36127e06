import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import { acquirePermit, type CallPermit, type SizedRequest } from './acquire-call-permit.ts'
import type { Caller } from './authenticate.ts'
import type { RelayDeps } from './relay-deps.ts'

/**
 * The permit of a call that needs expensive work before its plan, such as loading stored content.
 * The work counts towards the limits on calls, so the permit is acquired before the work. When the
 * call is planned, the call takes over the permit. `release` gives back a permit that no call took
 * over.
 */
export class PermitBeforePlan {
  private permit: CallPermit | null = null

  /** Acquires the permit. Returns an error if a limit refuses the call; otherwise null. */
  async acquire(
    deps: RelayDeps,
    caller: Caller,
    request: SizedRequest,
    groups: readonly string[] | undefined,
  ): Promise<RelayError | null> {
    const permit = await acquirePermit(deps, caller, request, groups)
    if (isRelayError(permit)) return permit
    this.permit = permit
    return null
  }

  /** Returns the permit, which the call must release. Returns null if none was acquired. */
  take(): CallPermit | null {
    const { permit } = this
    this.permit = null
    return permit
  }

  release(): void {
    this.take()?.release({ isSuccess: false, tokens: 0 })
  }
}

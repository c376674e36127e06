import type { AccountError } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { quotaUsedUpError } from '#domain/accounts/decide-call.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { RelayErrorCode } from '../canonical/relay-error.ts'

/** The minimum time between two reads of one account. */
const READ_EVERY_MS = 2_000
/** If an account has not been read for this time, its result is deleted. */
const FORGET_AFTER_MS = 60_000

/** The errors with which running calls must end, by call id. */
type Errors = ReadonlyMap<string, RelayErrorCode>
type Reading = { readonly at: number; isPending: boolean; errors: Errors }

const NO_ERRORS: Errors = new Map()

/**
 * Returns the error code for the API caller if an account error says that the balance or the
 * token's budget is empty; null for any other account error.
 */
export function exhaustionCodeOf({ code }: AccountError): RelayErrorCode | null {
  if (code === 'TokenBudgetExhausted') return 'token_exhausted'
  return code === 'InsufficientQuota' ? 'balance_spent' : null
}

/**
 * Finds the running calls that must end because their account or their token's budget is empty. The
 * account is read from the event store, because another process may have spent the balance. Each
 * account is read at most once per `READ_EVERY_MS`, and no call waits for a read.
 */
export class BalanceCheck {
  private readonly actors: Core['actors']
  /** The latest result for each account, in the order in which the accounts were read. */
  private readonly readings = new Map<number, Reading>()

  constructor(actors: Core['actors']) {
    this.actors = actors
  }

  /**
   * Returns the error with which a running call must end; null if the call may continue. The result
   * depends on the last read of the account.
   */
  errorOf(userId: number, call: string): RelayErrorCode | null {
    const now = performance.now()
    const last = this.readings.get(userId)
    const isDue = last === undefined || (!last.isPending && now - last.at >= READ_EVERY_MS)
    if (isDue) this.read(userId, now)
    return last?.errors.get(call) ?? null
  }

  private read(userId: number, at: number): void {
    const errors = this.readings.get(userId)?.errors ?? NO_ERRORS
    const reading: Reading = { at, isPending: true, errors }
    this.readings.delete(userId)
    this.readings.set(userId, reading)
    this.forgetOld(at)
    this.actors
      .ask(accountDecider, accountStream(userId), errorsIn)
      .then((found) => {
        reading.errors = found
      })
      // If the read fails, the previous result stays valid until the next read.
      .catch(() => {})
      .finally(() => {
        reading.isPending = false
      })
  }

  private forgetOld(now: number): void {
    for (const [userId, { at }] of this.readings) {
      if (now - at < FORGET_AFTER_MS) return
      this.readings.delete(userId)
    }
  }
}

function errorsIn(state: AccountState): Errors {
  const errors = new Map<string, RelayErrorCode>()
  for (const [call, open] of state.open) {
    const error = quotaUsedUpError(open, state)
    const code = error === null ? null : exhaustionCodeOf(error)
    if (code !== null) errors.set(call, code)
  }
  return errors
}

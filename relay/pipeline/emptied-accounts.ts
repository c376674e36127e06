import type { AccountError } from '#domain/account/commands.ts'
import { accountDecider } from '#domain/account/decide.ts'
import { emptiedError } from '#domain/account/decide-call.ts'
import { accountStream } from '#domain/account/events.ts'
import type { AccountState } from '#domain/account/state.ts'
import type { Core } from '#infra/core.ts'
import type { RelayErrorCode } from '../canonical/relay-error.ts'

/** Between two reads of one account. */
const READ_EVERY_MS = 2_000
/** Accounts whose calls have all ended are forgotten after this time. */
const FORGET_AFTER_MS = 60_000

/** The error of each call that must end. */
type Errors = ReadonlyMap<string, RelayErrorCode>
type Reading = { readonly at: number; isPending: boolean; errors: Errors }

const NO_ERRORS: Errors = new Map()

/** The caller's error where the account or the token was emptied; null for any other error. */
export function codeOfEmptied({ code }: AccountError): RelayErrorCode | null {
  if (code === 'TokenBudgetExhausted') return 'token_exhausted'
  return code === 'InsufficientQuota' ? 'balance_spent' : null
}

/**
 * Which running calls must end because their account or the budget of their token was emptied. Any
 * relay or API process may have emptied it, so the account has to be read. An account is read once
 * in two seconds at most, however many calls it has, and no call waits for it.
 */
export class EmptiedAccounts {
  private readonly actors: Core['actors']
  /** The account that was read longest ago comes first. */
  private readonly readings = new Map<number, Reading>()

  constructor(actors: Core['actors']) {
    this.actors = actors
  }

  /** Why the running call must end, as far as it was read; null while it may go on. */
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
      // A store that can't be reached says nothing about the account; the next read may.
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
    const error = emptiedError(open, state)
    const code = error === null ? null : codeOfEmptied(error)
    if (code !== null) errors.set(call, code)
  }
  return errors
}

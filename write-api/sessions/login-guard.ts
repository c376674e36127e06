import { setTimeout as delay } from 'node:timers/promises'
import { addressKey } from '#infra/http/address-key.ts'
import {
  type BackoffClaim,
  isFull,
  type Limits,
  type Permit,
  type RateClaim,
} from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Failed attempts per address and minute, across all accounts. */
const ADDRESS_FAILURES_MAX = 10
const FREE_FAILURES = 5
const DELAY_MS_MAX = 30_000
/** Failed attempts for an account within an hour, from all addresses, that engage the brake. */
const ACCOUNT_FAILURES_MAX = 30
/** While the brake is engaged, the longest delay for an address that failed before. */
const BRAKED_DELAY_MS_MAX = 15 * MINUTE_MS
/** While the brake is engaged, the longest time that a first attempt waits for a slot. */
const SLOT_WAIT_MS_MAX = 15_000

/**
 * Slows down password guessing without giving anybody a way to lock the owner out.
 *
 * Failed attempts delay the account for their own address: after five, each further attempt waits
 * twice as long, 30 seconds at most. A browser that has signed in to the account before has a
 * separate allowance that others cannot use up. After 30 failed attempts for an account within an
 * hour, from all addresses together, the brake engages: the first attempt of each address in a day
 * is still checked, two of them a second, in order of arrival. Every other attempt waits twice as
 * long as the last, up to 15 minutes, and one a second is checked. So a correct password is
 * accepted from an address without failed attempts, and at most 10 830 passwords of an account are
 * checked in an hour, regardless of the number of addresses.
 *
 * With a Redis, all processes share the counters.
 */
export type LoginGuard = {
  /** `device` identifies a browser that has signed in to this account before. */
  enter(ip: string, account: string, device?: string | null): Promise<LoginAttempt>
  /** For the password of a user with a session: each session has a separate allowance. */
  enterSession(sessionHash: string): Promise<LoginAttempt>
}

export type LoginAttempt = {
  /** 0 if the attempt may proceed: it then counts as failed unless `succeeded` is called. */
  readonly waitSeconds: number
  readonly succeeded: () => void
}

/** Stores addresses as hashes. `pause` resolves after the given number of milliseconds. */
export function createLoginGuard(
  limits: Limits,
  vault: Pick<Vault, 'keyedHash'>,
  pause: (ms: number) => Promise<unknown> = delay,
): LoginGuard {
  const enterSeparate = async (key: string): Promise<LoginAttempt> => {
    const outcome = await limits.enter('login', [backoff(key)])
    return isFull(outcome) ? rejectedFor(outcome.waitMs) : allowed(outcome)
  }
  return {
    enterSession: (sessionHash) => enterSeparate(`login-session:${sessionHash}`),
    enter: async (ip, account, device = null) => {
      if (device !== null) return enterSeparate(`login-device:${account}:${device}`)
      const address = addressKey(vault, ip)
      const pair = `${account}:${address}`
      const first = await limits.enter('login', [
        rate(`login:${address}`, ADDRESS_FAILURES_MAX, MINUTE_MS),
        backoff(`login:${pair}`),
      ])
      if (isFull(first)) return rejectedFor(first.waitMs)
      const accountPermit = await limits.enter('login', [
        rate(`login-account:${account}`, ACCOUNT_FAILURES_MAX, HOUR_MS),
      ])
      if (!isFull(accountPermit)) return allowed(first, accountPermit)
      const braked = await enterBraked(limits, pause, account, pair)
      // An attempt that has to wait counts as failed for its address, so that retrying without
      // pause has a cost.
      return typeof braked === 'number' ? rejectedFor(braked) : allowed(first, ...braked)
    },
  }
}

/** Returns the permits of the attempt, or the milliseconds that it has to wait. */
async function enterBraked(
  limits: Limits,
  pause: (ms: number) => Promise<unknown>,
  account: string,
  pair: string,
): Promise<readonly Permit[] | number> {
  const firstOfDay = await limits.enter('login', [rate(`login-first:${pair}`, 1, DAY_MS)])
  if (isFull(firstOfDay)) {
    const outcome = await limits.enter('login', [
      backoff(`login-braked:${pair}`, 0, BRAKED_DELAY_MS_MAX, DAY_MS),
      rate(`login-others:${account}`, 1, 1_000, false),
    ])
    return isFull(outcome) ? outcome.waitMs : [outcome]
  }
  for (let waitedMs = 0; ; ) {
    const slot = await limits.enter('login', [rate(`login-turn:${account}`, 2, 1_000, false)])
    if (!isFull(slot)) return [firstOfDay]
    if (waitedMs >= SLOT_WAIT_MS_MAX) {
      firstOfDay.release({ isRefunded: true })
      return slot.waitMs
    }
    // The random part spreads the attempts that wait, so that they do not retry at the same moment.
    const ms = Math.min(slot.waitMs, 1_000) + Math.random() * 100
    waitedMs += ms
    await pause(ms)
  }
}

const rate = (key: string, max: number, periodMs: number, isRefundable = true): RateClaim => ({
  kind: 'rate',
  key,
  max,
  periodMs,
  isRefundable,
})

const backoff = (
  key: string,
  freeTries = FREE_FAILURES,
  delayMsMax = DELAY_MS_MAX,
  forgetMs = 15 * MINUTE_MS,
): BackoffClaim => ({ kind: 'backoff', key, freeTries, delayMsMax, forgetMs })

const rejectedFor = (waitMs: number): LoginAttempt => ({
  waitSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  succeeded: () => {},
})

const allowed = (...permits: readonly Permit[]): LoginAttempt => ({
  waitSeconds: 0,
  succeeded: () => {
    for (const permit of permits) permit.release({ isRefunded: true })
  },
})

import { setTimeout as delay } from 'node:timers/promises'
import { addressKey, networkKey } from '#infra/http/client-address-hash.ts'
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
/**
 * The maximum number of failed attempts per minute from one IP address, for all accounts together.
 */
const ADDRESS_FAILURES_MAX = 10
const FREE_FAILURES = 5
const DELAY_MS_MAX = 30_000
/**
 * The maximum number of failed attempts per hour for one account. Above this number, the account is
 * throttled.
 */
const ACCOUNT_FAILURES_MAX = 30
/** The longest wait in milliseconds for attempts without priority (see `LoginGuard`). */
const THROTTLED_DELAY_MS_MAX = 15 * MINUTE_MS
/**
 * The number of attempts of an IP address per day that have priority while an account is throttled.
 * The number is above 1, because the owner may mistype the password.
 */
const ADDRESS_FIRST_ATTEMPTS_MAX = 3
/**
 * The number of attempts of a network per day that have priority while an account is throttled. The
 * server can check this number of attempts within `SLOT_WAIT_MS_MAX`.
 */
const NETWORK_FIRST_ATTEMPTS_MAX = 16
/**
 * The longest time in milliseconds that an attempt with priority waits while an account is
 * throttled.
 */
const SLOT_WAIT_MS_MAX = 15_000

/**
 * Slows down password guessing without locking the owner out.
 *
 * After five failed attempts for an account from one IP address, each attempt doubles the wait of
 * this address, up to 30 seconds. A browser that has signed in to the account before has a separate
 * limit.
 *
 * After 30 failed attempts for an account in an hour, the account is throttled. While it is
 * throttled, three attempts of an IP address and 16 attempts of a network have priority each day.
 * Each second, two attempts with priority and one attempt without priority are checked. Each
 * attempt without priority doubles the wait of its address, up to 15 minutes. At most
 * 30 + 3 × 3 600 passwords of an account are checked per hour. The owner can still sign in from an
 * address without failed attempts.
 *
 * With Redis, all processes share the counters.
 */
export type LoginGuard = {
  /**
   * Registers an attempt. `device` identifies a browser that has signed in to the account before,
   * and is null for any other browser.
   */
  enter(ip: string, account: string, device?: string | null): Promise<LoginAttempt>
  /**
   * Registers an attempt of a user who already has a session. Each session has a separate limit.
   */
  enterSession(sessionHash: string): Promise<LoginAttempt>
}

export type LoginAttempt = {
  /**
   * The seconds that the client must wait. 0 means that the attempt is allowed. An allowed attempt
   * counts as failed until `succeeded` is called.
   */
  readonly waitSeconds: number
  readonly succeeded: () => void
}

/**
 * Creates a guard that stores IP addresses only as hashes. `pause` waits for a number of
 * milliseconds. Tests replace `pause`.
 */
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
      const throttled = await enterThrottled(limits, pause, account, [
        address,
        networkKey(vault, ip),
      ])
      // The permit in `first` is not released, so a rejected attempt counts as failed. This slows
      // down clients that retry without waiting.
      return typeof throttled === 'number' ? rejectedFor(throttled) : allowed(first, ...throttled)
    },
  }
}

/**
 * Registers an attempt for a throttled account. Returns the permits of the attempt, or the
 * milliseconds that the client must wait.
 */
async function enterThrottled(
  limits: Limits,
  pause: (ms: number) => Promise<unknown>,
  account: string,
  [address, network]: readonly [address: string, network: string],
): Promise<readonly Permit[] | number> {
  const pair = `${account}:${address}`
  const firstOfDay = await limits.enter('login', [
    rate(`login-first:${pair}`, ADDRESS_FIRST_ATTEMPTS_MAX, DAY_MS),
    rate(`login-first-network:${account}:${network}`, NETWORK_FIRST_ATTEMPTS_MAX, DAY_MS),
  ])
  if (isFull(firstOfDay)) {
    const outcome = await limits.enter('login', [
      backoff(`login-braked:${pair}`, 0, THROTTLED_DELAY_MS_MAX, DAY_MS),
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
    // The random part prevents waiting attempts from retrying at the same moment.
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

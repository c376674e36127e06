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
/** Wrong tries of one address a minute, whatever the account. */
const ADDRESS_TRIES_MAX = 10
const FREE_TRIES = 5
const DELAY_MS_MAX = 30_000
/** Wrong tries for an account in an hour, from all addresses, until the brake is on. */
const ACCOUNT_TRIES_MAX = 30
/** While the brake is on, an address that was wrong before waits up to this long. */
const BRAKED_DELAY_MS_MAX = 15 * MINUTE_MS
/** How long a first try waits for its turn while the brake is on. */
const TURN_WITHIN_MS = 15_000

/**
 * Slows down who guesses passwords, without a lever by which anybody could keep the owner out.
 *
 * Wrong tries delay the account for their own address: after five, each further try waits twice as
 * long, 30 seconds at most. A browser that has logged in to the account before has tries that
 * nobody else can use up. After 30 wrong tries for an account within an hour, from wherever, the
 * brake is on: the first try of each address in a day is still looked at, two of them a second, in
 * turn; every other try waits twice as long as the last, up to a quarter of an hour, and one a
 * second is looked at. So a right password is let in from an address that made no wrong try, and
 * however many addresses take part, at most 10 830 passwords of an account are tried in an hour.
 *
 * Counted over all processes where there is a Redis.
 */
export type LoginGuard = {
  /** `device`: the browser, where it is known to have logged in to this account before. */
  enter(ip: string, account: string, device?: string | null): Promise<LoginTry>
  /** For the password of a user who has a session: its tries are its own. */
  enterSession(sessionHash: string): Promise<LoginTry>
}

export type LoginTry = {
  /** 0 when it may be made: then it counts as wrong unless it `succeeded`. */
  readonly waitSeconds: number
  readonly succeeded: () => void
}

/** The addresses it keeps are hashed. `pause` resolves after so many milliseconds. */
export function createLoginGuard(
  limits: Limits,
  vault: Pick<Vault, 'keyedHash'>,
  pause: (ms: number) => Promise<unknown> = delay,
): LoginGuard {
  const own = async (key: string): Promise<LoginTry> => {
    const outcome = await limits.enter('login', [backoff(key)])
    return isFull(outcome) ? refusedFor(outcome.waitMs) : allowed(outcome)
  }
  return {
    enterSession: (sessionHash) => own(`login-session:${sessionHash}`),
    enter: async (ip, account, device = null) => {
      if (device !== null) return own(`login-device:${account}:${device}`)
      const address = addressKey(vault, ip)
      const pair = `${account}:${address}`
      const first = await limits.enter('login', [
        rate(`login:${address}`, ADDRESS_TRIES_MAX, MINUTE_MS),
        backoff(`login:${pair}`),
      ])
      if (isFull(first)) return refusedFor(first.waitMs)
      const ofAccount = await limits.enter('login', [
        rate(`login-account:${account}`, ACCOUNT_TRIES_MAX, HOUR_MS),
      ])
      if (!isFull(ofAccount)) return allowed(first, ofAccount)
      const braked = await enterBraked(limits, pause, account, pair)
      // A try that has to wait counts as wrong for its address: hammering must cost something.
      return typeof braked === 'number' ? refusedFor(braked) : allowed(first, ...braked)
    },
  }
}

/** What the try took, or the milliseconds that it has to wait. */
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
    const turn = await limits.enter('login', [rate(`login-turn:${account}`, 2, 1_000, false)])
    if (!isFull(turn)) return [firstOfDay]
    if (waitedMs >= TURN_WITHIN_MS) {
      firstOfDay.release({ isRefunded: true })
      return turn.waitMs
    }
    // A little disorder, or those who wait would all ask again at the same moment.
    const ms = Math.min(turn.waitMs, 1_000) + Math.random() * 100
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
  freeTries = FREE_TRIES,
  delayMsMax = DELAY_MS_MAX,
  forgetMs = 15 * MINUTE_MS,
): BackoffClaim => ({ kind: 'backoff', key, freeTries, delayMsMax, forgetMs })

const refusedFor = (waitMs: number): LoginTry => ({
  waitSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  succeeded: () => {},
})

const allowed = (...permits: readonly Permit[]): LoginTry => ({
  waitSeconds: 0,
  succeeded: () => {
    for (const permit of permits) permit.release({ isRefunded: true })
  },
})

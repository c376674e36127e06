import { addressKey } from '#infra/http/address-key.ts'
import { type Claim, isFull, type Limits } from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'

const IP_TRIES_MAX = 10
const IP_WINDOW_MS = 60_000
const FREE_TRIES = 5
const DELAY_MS_MAX = 30_000
const FORGET_AFTER_MS = 15 * 60_000

/**
 * Slows down who guesses passwords: an address has 10 wrong tries a minute, and after 5 wrong ones
 * for an account each further try waits twice as long, 30 seconds at most. Never a hard lock, which
 * anybody could use to keep somebody else out. Counted over all processes where there is a Redis.
 */
export type LoginGuard = {
  enter(ip: string, account: string): Promise<LoginTry>
}

export type LoginTry = {
  /** 0 when it may be made: then it counts as wrong unless it `succeeded`. */
  readonly waitSeconds: number
  readonly succeeded: () => void
}

/** The addresses it keeps are hashed. */
export function createLoginGuard(limits: Limits, vault: Pick<Vault, 'keyedHash'>): LoginGuard {
  return {
    enter: async (ip, account) => {
      const claims: Claim[] = [
        {
          kind: 'rate',
          key: `login:${addressKey(vault, ip)}`,
          max: IP_TRIES_MAX,
          periodMs: IP_WINDOW_MS,
          isRefundable: true,
        },
        {
          kind: 'backoff',
          key: `login:${account}`,
          freeTries: FREE_TRIES,
          delayMsMax: DELAY_MS_MAX,
          forgetMs: FORGET_AFTER_MS,
        },
      ]
      const outcome = await limits.enter('login', claims)
      if (isFull(outcome)) {
        return { waitSeconds: Math.ceil(outcome.waitMs / 1_000), succeeded: () => {} }
      }
      return { waitSeconds: 0, succeeded: () => outcome.leave({ isRefunded: true }) }
    },
  }
}

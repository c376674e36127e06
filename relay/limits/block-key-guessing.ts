import { addressKey, addressLine } from '#infra/http/client-address-hash.ts'
import { isFull, type Limits } from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'

const WRONG_KEYS_MAX = 60
const PERIOD_MS = 60_000
/**
 * The maximum number of blocked addresses. An IPv6 /64 network counts as one address. When the
 * maximum is reached, a new address replaces the oldest.
 */
const BLOCKED_MAX = 10_000

/**
 * Blocks an IP address after 60 wrong keys in a minute. All relay processes count together. The
 * list of blocked addresses is in memory, so that a correct key needs no query.
 */
export class FailedKeys {
  private readonly blocked = new Map<string, number>()
  private readonly limits: Limits
  private readonly vault: Pick<Vault, 'keyedHash'>
  private readonly kind: string

  /** Wrong keys of each `kind` are counted separately. */
  constructor(limits: Limits, vault: Pick<Vault, 'keyedHash'>, kind = 'failed-keys') {
    this.limits = limits
    this.vault = vault
    this.kind = kind
  }

  /**
   * Returns the seconds until the address may try a key again, or 0 if it is not blocked. `now` is
   * in monotonic milliseconds.
   */
  waitSeconds(clientIp: string, now = performance.now()): number {
    // Nearly always, no address is blocked, so the look-up is skipped.
    if (this.blocked.size === 0) return 0
    const line = addressLine(clientIp)
    const until = this.blocked.get(line)
    if (until === undefined) return 0
    if (until > now) return Math.ceil((until - now) / 1_000)
    this.blocked.delete(line)
    return 0
  }

  /**
   * Counts a wrong key. Returns the seconds for which the address is now blocked, or 0 if it is not
   * blocked.
   */
  async failed(clientIp: string, now = performance.now()): Promise<number> {
    const key = `${this.kind}:${addressKey(this.vault, clientIp)}`
    const claim = {
      kind: 'rate',
      key,
      max: WRONG_KEYS_MAX,
      periodMs: PERIOD_MS,
      isRefundable: false,
    } as const
    const outcome = await this.limits.enter(key, [claim])
    if (!isFull(outcome)) return 0
    const [first] = this.blocked.keys()
    if (this.blocked.size >= BLOCKED_MAX && first !== undefined) this.blocked.delete(first)
    this.blocked.set(addressLine(clientIp), now + outcome.waitMs)
    return this.waitSeconds(clientIp, now)
  }
}

import { addressKey, addressLine } from '#infra/http/address-key.ts'
import { isFull, type Limits } from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'

const MAX = 60
const PERIOD_MS = 60_000
/** Addresses (of IPv6, whole /64) told to wait; the one that was told first makes room. */
const WAITING_MAX = 10_000

/**
 * Wrong keys by address: 60 a minute over all relays, so that guessing goes nowhere and costs
 * nothing. A right key asks nobody: an address is shut out once one of its keys was one too many.
 */
export class FailedKeys {
  private readonly waiting = new Map<string, number>()
  private readonly limits: Limits
  private readonly vault: Pick<Vault, 'keyedHash'>
  private readonly what: string

  /** `what`: which names are guessed; counted apart from others. */
  constructor(limits: Limits, vault: Pick<Vault, 'keyedHash'>, what = 'failed-keys') {
    this.limits = limits
    this.vault = vault
    this.what = what
  }

  /** Seconds to wait; 0 when the address may try a key. `now`: monotonic milliseconds. */
  waitSeconds(clientIp: string, now = performance.now()): number {
    // Nearly always: a right key costs no more than that.
    if (this.waiting.size === 0) return 0
    const line = addressLine(clientIp)
    const until = this.waiting.get(line)
    if (until === undefined) return 0
    if (until > now) return Math.ceil((until - now) / 1_000)
    this.waiting.delete(line)
    return 0
  }

  /** Counts a wrong key. Seconds to wait when it was one too many, else 0. */
  async failed(clientIp: string, now = performance.now()): Promise<number> {
    const key = `${this.what}:${addressKey(this.vault, clientIp)}`
    const claim = { kind: 'rate', key, max: MAX, periodMs: PERIOD_MS, isRefundable: false } as const
    const outcome = await this.limits.enter(key, [claim])
    if (!isFull(outcome)) return 0
    const [first] = this.waiting.keys()
    if (this.waiting.size >= WAITING_MAX && first !== undefined) this.waiting.delete(first)
    this.waiting.set(addressLine(clientIp), now + outcome.waitMs)
    return this.waitSeconds(clientIp, now)
  }
}

import { isFull, type Limits } from '#infra/limits/port.ts'
import { type FileOutcome, GONE } from './open-provider-file.ts'

/** The maximum number of requests per minute to providers for the files of one user. */
export const FILE_LOOKUPS_MAX = 30
const MINUTE_MS = 60_000
/**
 * The times in milliseconds for which a new address, and the answer that there is none, are
 * remembered.
 */
const [ADDRESS_MS, GONE_MS] = [3_600_000, 60_000]
const REMEMBERED_MAX = 10_000

/** The new address of a file, or a `FileOutcome` if there is none. */
type Found = string | FileOutcome

/** A file whose address is looked up. `name` is unique, and `old` is the address that expired. */
export type ExpiredFile = {
  readonly userId: number
  readonly name: string
  readonly old: string
}

/**
 * Looks up the new addresses of files whose old addresses have expired. Anyone who has a link to a
 * file can request the file, and each look-up is a request with the operator's key. A page of old
 * pictures must not use up the provider's rate limit. Therefore, answers are remembered, requests
 * for the same file share one look-up, and the look-ups for the files of one user are limited.
 */
export class FileAddressLookups {
  private readonly limits: Limits
  private readonly now: () => number
  private readonly remembered = new Map<string, { readonly found: Found; readonly until: number }>()
  private readonly pending = new Map<string, Promise<Found>>()

  constructor({ limits, now }: { readonly limits: Limits; readonly now: () => number }) {
    this.limits = limits
    this.now = now
  }

  /**
   * Returns the new address, or a `FileOutcome` if there is none. `ask` asks the provider and must
   * end within a limited time. `ask` must not be aborted when the caller who started it
   * disconnects, because other callers may wait for the same answer.
   */
  find(file: ExpiredFile, ask: () => Promise<Found>): Promise<Found> {
    const { name } = file
    const { found, until = 0 } = this.remembered.get(name) ?? {}
    if (found !== undefined && this.now() < until) return Promise.resolve(found)
    const running = this.pending.get(name)
    if (running !== undefined) return running
    const asked = this.askWithinLimit(file, ask).finally(() => this.pending.delete(name))
    this.pending.set(name, asked)
    return asked
  }

  /**
   * Removes the remembered new address of a file. Must be called once this address has expired as
   * well. The next request then looks up another address.
   */
  forget({ name }: ExpiredFile): void {
    this.remembered.delete(name)
  }

  private async askWithinLimit(
    { userId, name, old }: ExpiredFile,
    ask: () => Promise<Found>,
  ): Promise<Found> {
    const key = `task-files:${userId}`
    const rate = { kind: 'rate', key, max: FILE_LOOKUPS_MAX, isRefundable: false } as const
    const permit = await this.limits.enter(`user:${userId}`, [{ ...rate, periodMs: MINUTE_MS }])
    if (isFull(permit)) return { kind: 'failed', retryAfterMs: permit.waitMs }
    try {
      const answer = await ask()
      const found = answer === old ? GONE : answer
      this.remember(name, found)
      return found
    } finally {
      permit.release({ isRefunded: false })
    }
  }

  private remember(name: string, found: Found): void {
    if (typeof found !== 'string' && found.kind !== 'gone') return
    const kept = typeof found === 'string' ? ADDRESS_MS : GONE_MS
    this.remembered.delete(name)
    this.remembered.set(name, { found, until: this.now() + kept })
    const [oldest] = this.remembered.keys()
    if (this.remembered.size > REMEMBERED_MAX && oldest !== undefined) {
      this.remembered.delete(oldest)
    }
  }
}

import { type Denial, deny } from '#relay/canonical/denial.ts'

export type ConcurrencyCaps = {
  readonly total: number
  readonly perUser: number
  readonly perToken: number
}

export const DEFAULT_CAPS: ConcurrencyCaps = { total: 2_000, perUser: 1_000, perToken: 1_000 }

/** How many calls are under way: in all, and for each user and token. */
export class Concurrency {
  total = 0
  private readonly users = new Map<number, number>()
  private readonly tokens = new Map<number, number>()
  private readonly caps: ConcurrencyCaps

  constructor(caps: ConcurrencyCaps) {
    this.caps = caps
  }

  /** null when the call may go on; it must then `leave` once. */
  enter(userId: number, tokenId: number): Denial | null {
    if (this.total >= this.caps.total) {
      return deny('overloaded', { retryAfterSeconds: 1 + Math.floor(Math.random() * 3) })
    }
    const ofUser = this.users.get(userId) ?? 0
    const ofToken = this.tokens.get(tokenId) ?? 0
    if (ofUser >= this.caps.perUser || ofToken >= this.caps.perToken) {
      return deny('too_many_concurrent', { retryAfterSeconds: 1 + Math.floor(Math.random() * 3) })
    }
    this.total += 1
    this.users.set(userId, ofUser + 1)
    this.tokens.set(tokenId, ofToken + 1)
    return null
  }

  leave(userId: number, tokenId: number): void {
    this.total -= 1
    decrement(this.users, userId)
    decrement(this.tokens, tokenId)
  }
}

function decrement(counts: Map<number, number>, id: number): void {
  const count = (counts.get(id) ?? 1) - 1
  if (count > 0) counts.set(id, count)
  else counts.delete(id)
}

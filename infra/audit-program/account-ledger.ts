import type { Posting } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'

/** One movement of an account. `total` is the balance and the held quota together. */
export type LedgerLine = {
  readonly position: number
  readonly revision: number
  /** The time in unix milliseconds. */
  readonly at: number
  readonly type: string
  readonly amount: bigint
  readonly total: bigint
  readonly balance: bigint
  readonly held: bigint
}

export type AccountBalance = {
  readonly balance: bigint
  readonly held: bigint
  readonly total: bigint
  readonly affiliate: bigint
  /** The position of the last event that was applied, or 0. */
  readonly position: number
}

/** A moment: a position, or a time in unix milliseconds. Events after it are left out. */
export type Moment = { readonly position?: number; readonly at?: number }

export const isWithin = ({ position, meta }: Recorded, moment: Moment): boolean =>
  (moment.position === undefined || position <= moment.position) &&
  (moment.at === undefined || meta.at <= moment.at)

/** Sums the movements of one account. Events of other streams must not be passed. */
export class AccountLedger {
  private balance = 0n
  private held = 0n
  private affiliate = 0n
  private position = 0

  /** Applies an event. Returns its line, or null if it does not change the total. */
  apply(event: Recorded): LedgerLine | null {
    const { postings = [] } = event.data as { postings?: readonly Posting[] }
    const before = this.balance + this.held
    for (const [account, amount] of postings) {
      if (!account.startsWith('user:')) continue
      if (account.endsWith(':main')) this.balance += BigInt(amount)
      else if (account.endsWith(':held')) this.held += BigInt(amount)
      else this.affiliate += BigInt(amount)
    }
    this.position = event.position
    const { balance, held } = this
    const total = balance + held
    if (total === before) return null
    const { position, revision, type, meta } = event
    return { position, revision, at: meta.at, type, amount: total - before, total, balance, held }
  }

  current(): AccountBalance {
    const { balance, held, affiliate, position } = this
    return { balance, held, total: balance + held, affiliate, position }
  }
}

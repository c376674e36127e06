import type { Posting } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'

/**
 * One line of an account's ledger. Each line belongs to an event that changed `total`, the sum of
 * the account's balance and its held quota.
 */
export type LedgerLine = {
  readonly position: number
  readonly revision: number
  /** The time of the event in Unix milliseconds. */
  readonly at: number
  readonly type: string
  /**
   * The id of the cause of the change, such as a call, an order or a grant. Empty if the event
   * names no cause.
   */
  readonly source: string
  readonly amount: bigint
  readonly total: bigint
  readonly balance: bigint
  readonly held: bigint
}

/**
 * The fields of events that can hold the id of the cause. An event has at most one of these fields.
 */
const SOURCES = [
  ...(['call', 'grantId', 'deductionId', 'correctionId', 'orderId', 'transferId', 'day'] as const),
]

function sourceOf(data: object): string {
  const fields: Readonly<Record<string, unknown>> = { ...data }
  const name = SOURCES.find((one) => fields[one] !== undefined)
  return name === undefined ? '' : String(fields[name])
}

export type AccountBalance = {
  readonly balance: bigint
  readonly held: bigint
  readonly total: bigint
  readonly affiliate: bigint
  /** The position of the last event that was applied, or 0 if none was. */
  readonly position: number
}

/**
 * A point in the history: a position, or a time in Unix milliseconds. Reports as of a moment leave
 * out later events. If neither is given, reports include all events.
 */
export type Moment = { readonly position?: number; readonly at?: number }

export const isWithin = ({ position, meta }: Recorded, moment: Moment): boolean =>
  (moment.position === undefined || position <= moment.position) &&
  (moment.at === undefined || meta.at <= moment.at)

/**
 * Computes the balance and the held quota of one account from its events. The caller must not pass
 * events of other accounts.
 */
export class AccountLedger {
  private balance = 0n
  private held = 0n
  private affiliate = 0n
  private position = 0

  /**
   * Applies an event. Returns the ledger line of the event, or null if the event does not change
   * the sum of balance and held quota.
   */
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
    const origin = { position, revision, at: meta.at, type, source: sourceOf(event.data) }
    return { ...origin, amount: total - before, total, balance, held }
  }

  current(): AccountBalance {
    const { balance, held, affiliate, position } = this
    return { balance, held, total: balance + held, affiliate, position }
  }
}

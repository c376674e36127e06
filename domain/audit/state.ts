import type { CallBatch } from '../accounts/events.ts'
import type { CorrectionScope } from '../corrections/events.ts'
import type { PriceSnapshot } from '../pricing/price-snapshot.ts'
import type { RedemptionTerms } from '../redemptions/events.ts'
import type { Quota } from '../shared/quota.ts'
import { noRememberedCalls, type RememberedCalls } from './admitted-calls-and-their-ends.ts'
import type { Place } from './findings.ts'
import { type IdSet, noIds } from './fingerprint-table.ts'

/**
 * The balances of one user's ledger accounts. If the audit begins after the first event, `main` and
 * `held` are null until an event contains them.
 */
export type Balances = {
  main: Quota | null
  held: Quota | null
  affiliate: Quota
  /** The UTC day of the last check-in. It is empty before the first check-in. */
  checkInDay: string
}

export type AuditedCall = Place & {
  readonly userId: number
  readonly tokenId: number
  hold: Quota
  readonly price: PriceSnapshot
  readonly model: string
  leaseUntil: number
  /**
   * The usage in the latest event about the call's progress, as JSON text. If the call is
   * interrupted, this usage is charged.
   */
  usage: string | null
  /** The batch that the call pays for, or null. */
  readonly batch: CallBatch | null
}

/**
 * A movement of quota of which only one event has been read so far. A movement has two events: one
 * of the source (an order or a code), and one of the account.
 */
export type UnmatchedMovement = Place & {
  /** True if the event of the source has been read and the event of the account has not. */
  readonly isSource: boolean
  readonly amount: Quota
  /** True if the account may receive less than `amount`, or nothing. */
  readonly isUpperBound: boolean
  readonly at: number
}

export type AuditedCode = {
  readonly id: number
  terms: RedemptionTerms
  uses: number
  isDisabled: boolean
}

export type AuditedOrder = {
  readonly userId: number
  readonly quota: Quota
  isPaid: boolean
  /** The quota that was paid and not refunded. */
  remaining: Quota
  refunds: number
  restorations: number
}

/**
 * A batch with at least one call that has not ended. A part of a batch consists of the lines with
 * the same model and price. One call pays for these lines. The arrays have one entry per part.
 * `charges` and `counts` are the sum of the charges and the number of the lines that were billed so
 * far. `billed` contains the indexes of these lines.
 */
export type AuditedBatch = {
  readonly prices: readonly PriceSnapshot[]
  readonly calls: readonly string[]
  readonly charges: Quota[]
  readonly counts: number[]
  readonly lines: number
  readonly billed: Set<number>
  /** The number of calls that have not ended. The batch is forgotten when it reaches 0. */
  openCalls: number
}

/**
 * The memory of an audit between two events. It consists of plain data, maps and sets, so that it
 * can be stored and continued. Calls, batches and movements are removed when they end. The rest
 * grows with the numbers of users, streams, orders, codes and corrections. It also grows by 50 to
 * 80 bytes per call (21 to 43 if only the positions of calls are remembered), and by 8 to 24 bytes
 * per grant.
 */
export type AuditState = {
  /** The position after which the audit began. If it is above 0, the earlier events are unknown. */
  readonly startedAfter: number
  /** False for a store whose positions increase with gaps. */
  readonly arePositionsDense: boolean
  position: number
  /** The time of the last event, in Unix milliseconds. */
  lastAt: number
  readonly revisions: Map<string, number>
  readonly balances: Map<number, Balances>
  /** The sums of the postings of all ledger accounts that do not belong to a user. */
  readonly siteAccounts: Map<string, Quota>
  readonly calls: Map<string, AuditedCall>
  /** All admitted calls, including the calls that have ended. */
  readonly remembered: RememberedCalls
  /** The scopes of the corrections that were started, by their ids. */
  readonly corrections: Map<string, CorrectionScope>
  /** The latest charges of the corrected calls, by account stream and call id. */
  readonly correctedCharges: Map<string, Quota>
  readonly grantIds: IdSet
  readonly movements: Map<string, UnmatchedMovement>
  readonly codes: Map<string, AuditedCode>
  readonly redeemed: IdSet
  readonly orders: Map<number, AuditedOrder>
  readonly batches: Map<string, AuditedBatch>
}

/** Increase this number when the shape of the state changes. Stored states are then ignored. */
export const AUDIT_STATE_VERSION = 4

type Options = {
  readonly startedAfter?: number
  readonly arePositionsDense?: boolean
  /**
   * The kind of the memory of ended calls. With the default, `terms`, no event has to be read
   * again.
   */
  readonly remembers?: RememberedCalls['kind']
}

export const initialAudit = ({
  startedAfter = 0,
  arePositionsDense = true,
  remembers = 'terms',
}: Options = {}): AuditState => ({
  startedAfter,
  arePositionsDense,
  position: startedAfter,
  lastAt: 0,
  revisions: new Map(),
  balances: new Map(),
  siteAccounts: new Map(),
  calls: new Map(),
  remembered: noRememberedCalls(remembers),
  corrections: new Map(),
  correctedCharges: new Map(),
  grantIds: noIds(),
  movements: new Map(),
  codes: new Map(),
  redeemed: noIds(),
  orders: new Map(),
  batches: new Map(),
})

/** Reports whether the audit began after the first event, so that earlier events are unknown. */
export const isPartial = ({ startedAfter }: AuditState): boolean => startedAfter > 0

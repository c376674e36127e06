import { codedError } from '../shared/coded-error.ts'
import { isSame } from '../shared/deep-equal.ts'
import { toWire } from '../shared/quota.ts'
import type { ReportDispute, ReportRefund, TopUpError, TopUpReport } from './commands.ts'
import type { ReportSource, TopUpDisputeReported, TopUpEvent, TopUpOrdered } from './events.ts'
import { moneyText } from './money.ts'
import {
  type ProviderReports,
  type ReportedDispute,
  refundShares,
  storedCents,
  type TopUpReported,
  type TopUpState,
  withReport,
} from './state.ts'

type Outcome = readonly TopUpEvent[] | TopUpError

/** The statuses of refunds that moved no money, or whose money was returned. */
const REFUNDS_WITHOUT_MONEY = ['failed', 'canceled']

const DISPUTES_DECIDED = ['won', 'lost', 'warning_closed', 'prevented']
/** The statuses of disputes that the operator won, or that were closed without a decision. */
const DISPUTES_WITHOUT_LOSS = ['won', 'warning_closed', 'prevented']

/**
 * Reports whether a dispute is over, with or without a decision of the bank. Only an appeal can
 * change the status of such a dispute.
 */
const isDecided = (status: string): boolean => DISPUTES_DECIDED.includes(status)

/**
 * Records a report of the provider. A repeated report changes nothing. If the report changes the
 * total refunded amount, a second event records the difference.
 */
export function decideReport(command: TopUpReport, state: TopUpState): Outcome {
  const { order, payment } = state
  if (order === null) return codedError('TopUpUnknown')
  if (payment === null) return codedError('TopUpNotPaid')
  if (command.currency !== order.currency) return codedError('TopUpMismatch', { field: 'currency' })
  const { changesBefore } = command
  const reported = reportOf(command, state, order)
  if (reported === null) return []
  if (changesBefore !== state.changes) return codedError('RefundedMeanwhile')
  const reports = withReport(state.reports, reported)
  const coveredCents = coveredBy(state, lostCents(reports))
  const covered = { coveredMoney: moneyText(coveredCents) }
  const report = { ...reported, data: { ...reported.data, ...covered } } as typeof reported
  const after = { ...state, reports, coveredCents }
  const delta = dueCents(after, order) - state.refundedCents
  return [report, ...movement(command, state, order, delta)]
}

/**
 * Returns the amount by which the report changes the refunded money, in hundredths of the currency.
 * The result is negative if money was returned.
 */
export function reportedChange(command: TopUpReport, state: TopUpState): bigint {
  const events = decideReport(command, state)
  if ('code' in events) return 0n
  let cents = 0n
  for (const { type, data } of events) {
    if (type === 'TopUpRefunded') cents += storedCents(data.money)
    if (type === 'TopUpRestored') cents -= storedCents(data.money)
  }
  return cents
}

/**
 * Returns the money that left the operator's account, permanently or temporarily, according to the
 * provider's reports. The result is in hundredths of the currency.
 */
function lostCents({ refunds, disputes, chargeCents }: ProviderReports): bigint {
  let [live, failed, disputed] = [0n, 0n, 0n]
  for (const { cents, isLive, status } of refunds.values()) {
    if (isLive) live += cents
    if (REFUNDS_WITHOUT_MONEY.includes(status)) failed += cents
  }
  for (const dispute of disputes.values()) if (isLost(dispute)) disputed += dispute.cents
  // NOTE: `chargeCents` also includes failed refunds, and refunds that were not reported
  // individually.
  const ofCharge = chargeCents - failed
  return (live > ofCharge ? live : ofCharge) + disputed
}

/**
 * Reports whether the operator lost the disputed money. The money is lost if the dispute was lost.
 * While the dispute is open, the money also counts as lost if Stripe has withdrawn it and not
 * returned it. NOTE: `funds_reinstated` after a lost dispute only returns the money of an earlier
 * refund. That refund has a separate report.
 */
function isLost({ status, isWithdrawn, isReinstated }: ReportedDispute): boolean {
  return (
    status === 'lost' || (isWithdrawn && !isReinstated && !DISPUTES_WITHOUT_LOSS.includes(status))
  )
}

/**
 * Returns the part of the reported money that admins have also recorded, so that this part counts
 * only once. `lostTotal` is the lost money according to all reports, including the new report.
 */
function coveredBy(
  { reports, coveredCents, recordedCents }: TopUpState,
  lostTotal: bigint,
): bigint {
  const more = lostTotal - lostCents(reports)
  if (more <= 0n) return coveredCents < lostTotal ? coveredCents : lostTotal
  const open = recordedCents - coveredCents
  return coveredCents + (more < open ? more : open)
}

/**
 * Returns the total money to deduct, in hundredths of the currency: the refunds that admins
 * recorded plus the lost money that the provider reported. Money in both counts once. The result is
 * at most the amount of the payment.
 */
function dueCents(state: TopUpState, order: TopUpOrdered['data']): bigint {
  const { recordedCents, coveredCents, reports } = state
  const due = recordedCents + lostCents(reports) - coveredCents
  const paid = storedCents(order.money)
  return due < paid ? due : paid
}

function movement(
  command: TopUpReport,
  state: TopUpState,
  { orderId, userId }: TopUpOrdered['data'],
  delta: bigint,
): readonly TopUpEvent[] {
  if (delta === 0n) return []
  const shares = refundShares(state, delta)
  const source = sourceOf(command)
  if (delta > 0n) {
    const data = {
      orderId,
      userId,
      refundNo: state.refunds + 1,
      money: moneyText(delta),
      quota: toWire(shares.quota),
      rebateQuota: toWire(shares.rebateQuota),
      reason: command.note,
      source,
    }
    return [{ type: 'TopUpRefunded', v: 1, data }]
  }
  const data = {
    orderId,
    userId,
    restoreNo: state.restorations + 1,
    money: moneyText(-delta),
    quota: toWire(-shares.quota),
    rebateQuota: toWire(-shares.rebateQuota),
    source,
  }
  return [{ type: 'TopUpRestored', v: 1, data }]
}

const sourceOf = (command: TopUpReport): ReportSource =>
  command.type === 'ReportRefund'
    ? { kind: 'refund', id: command.refundId }
    : { kind: 'dispute', id: command.disputeId }

/** Returns the event that records a report, or null if the report contains nothing new. */
function reportOf(
  command: TopUpReport,
  { reports, coveredCents }: TopUpState,
  { orderId, userId }: TopUpOrdered['data'],
): TopUpReported | null {
  const common = { orderId, userId, coveredMoney: moneyText(coveredCents) }
  if (command.type === 'ReportDispute') {
    const data = disputeOf(command, reports.disputes.get(command.disputeId))
    return data && { type: 'TopUpDisputeReported', v: 1, data: { ...common, ...data } }
  }
  const { refundId, cents, status, reason, isTotal } = command
  if (!isRefundNews(command, reports)) return null
  const facts = { refundId, money: moneyText(cents), status, reason }
  const data = { ...common, ...facts, ...(isTotal && { isTotal: true as const }) }
  return { type: 'TopUpRefundReported', v: 1, data }
}

function isRefundNews(command: ReportRefund, reports: ProviderReports): boolean {
  const { refundId, cents, status, isTotal } = command
  if (isTotal) {
    let recorded = 0n
    for (const refund of reports.refunds.values()) recorded += refund.cents
    return cents > reports.chargeCents && cents > recorded
  }
  const recorded = reports.refunds.get(refundId)
  if (recorded === undefined) return true
  if (REFUNDS_WITHOUT_MONEY.includes(recorded.status) || recorded.status === status) return false
  // A successful refund can only become a failed refund. Other reports are outdated.
  return recorded.status !== 'succeeded' || REFUNDS_WITHOUT_MONEY.includes(status)
}

type DisputeFacts = Omit<TopUpDisputeReported['data'], 'orderId' | 'userId' | 'coveredMoney'>

/** Returns the state of the dispute after the report, or null if nothing changes. */
function disputeOf(
  command: ReportDispute,
  recorded: ReportedDispute | undefined,
): DisputeFacts | null {
  const { disputeId, cents, reason, status, dueBy, statedAt, funds } = command
  const reported = { money: moneyText(cents), reason, status, dueBy }
  const isWithdrawn = funds === 'withdrawn'
  const isReinstated = funds === 'reinstated'
  if (recorded === undefined) return { disputeId, ...reported, isWithdrawn, isReinstated, statedAt }
  const { money, ...before } = { ...recorded, money: moneyText(recorded.cents) }
  const old = { money, reason: before.reason, status: before.status, dueBy: before.dueBy }
  const isNewer = isNewerThan(recorded, command)
  const flags = {
    isWithdrawn: recorded.isWithdrawn || isWithdrawn,
    isReinstated: recorded.isReinstated || isReinstated,
  }
  const { isWithdrawn: wasWithdrawn, isReinstated: wasReinstated } = recorded
  const facts = { ...(isNewer ? reported : old), ...flags }
  const knownFacts = { ...old, isWithdrawn: wasWithdrawn, isReinstated: wasReinstated }
  if (isSame(facts, knownFacts)) return null
  return { disputeId, ...facts, statedAt: isNewer ? statedAt : recorded.statedAt }
}

/**
 * Returns true if a report is newer than the recorded report. Times are in whole seconds. A report
 * from the same second counts as newer, unless only the recorded report contains a decision.
 */
function isNewerThan(recorded: ReportedDispute, { statedAt, status }: ReportDispute): boolean {
  if (statedAt !== recorded.statedAt) return statedAt > recorded.statedAt
  return !isDecided(recorded.status) || isDecided(status)
}

/** Effects of a provider's report. The admins are notified of each of these effects. */
export type ReportEffect =
  | 'refunded'
  | 'refund-failed'
  | 'disputed'
  | 'dispute-won'
  | 'dispute-lost'
  | 'dispute-closed'

/**
 * Returns the effect of a report, for the message to the admins. Returns null if the admins need no
 * message.
 */
export function reportEffect(command: TopUpReport, state: TopUpState): ReportEffect | null {
  const events = decideReport(command, state)
  const [first] = 'code' in events ? [] : events
  if (first?.type === 'TopUpDisputeReported') {
    const recorded = state.reports.disputes.get(first.data.disputeId)
    return disputeEffect(recorded?.status ?? null, first.data.status)
  }
  if (first?.type !== 'TopUpRefundReported') return null
  if (REFUNDS_WITHOUT_MONEY.includes(first.data.status)) return 'refund-failed'
  const isMore = lostCents(withReport(state.reports, first)) > lostCents(state.reports)
  return isMore ? 'refunded' : null
}

function disputeEffect(before: string | null, status: string): ReportEffect | null {
  if (before !== null && isDecided(before) && before === status) return null
  if (status === 'won') return 'dispute-won'
  if (status === 'lost') return 'dispute-lost'
  if (isDecided(status)) return 'dispute-closed'
  return before === null ? 'disputed' : null
}

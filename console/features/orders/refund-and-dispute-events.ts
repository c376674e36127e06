import { disputeOutcome } from '#console/ui/elements/order-status.tsx'
import type { Order, PaymentReport } from '#read-api/contract/top-ups.ts'

type ReportedKind =
  | 'refundPending'
  | 'refundSucceeded'
  | 'refundTotal'
  | 'refundFailed'
  | 'refundCanceled'
  | 'disputeOpened'
  | 'disputeUpdated'
  | 'disputeWon'
  | 'disputeLost'
  | 'disputeClosed'
  | 'fundsWithdrawn'
  | 'fundsReinstated'

/** A refund, a dispute, or a report about one of them from the payment provider. */
export type OrderEvent = {
  /**
   * `recorded` is a refund that an admin has recorded. `deducted` means that quota was deducted
   * from the user for a refund or a dispute. `restored` means that deducted quota was returned.
   */
  readonly kind: ReportedKind | 'recorded' | 'deducted' | 'restored'
  /** The time of the event in Unix seconds. */
  readonly at: number
  /** The exact amount in the order's currency, such as `7.30`. */
  readonly money: string
  /**
   * The quota units that the event deducted from the balance or restored to it. The number is 0 for
   * a report of the payment provider.
   */
  readonly quota: number
  /**
   * The payment provider's id of the refund or dispute, or an empty text for a refund that an admin
   * has recorded.
   */
  readonly sourceId: string
  /**
   * The reason: a code of the payment provider, or the text that an admin has entered. The text is
   * empty for deductions and restorations, and if an earlier event of the same refund or dispute
   * already shows the reason.
   */
  readonly reason: string
  /**
   * The status of the dispute if the kind of the event is `disputeOpened` or `disputeUpdated`.
   * Empty for other events.
   */
  readonly status: string
  /**
   * The time (Unix seconds) until which the operator must respond to the dispute, or null if there
   * is no such time.
   */
  readonly dueBy: number | null
  /** The admin who recorded the refund, or an empty text for other events. */
  readonly actor: string
}

const EMPTY_EVENT = { quota: 0, sourceId: '', reason: '', status: '', dueBy: null, actor: '' }

/** Returns all events about refunds and disputes of an order, oldest first. */
export function refundAndDisputeEvents({ refunds, restorations, reports }: Order): OrderEvent[] {
  const events = [
    ...reportEvents(reports),
    ...refunds.map(
      ({ money, quota, reason, source, ...refund }): OrderEvent => ({
        ...EMPTY_EVENT,
        at: refund.created_at,
        money,
        quota,
        ...(source === 'admin'
          ? { kind: 'recorded', reason, actor: refund.actor_name || `#${refund.actor_id}` }
          : { kind: 'deducted', sourceId: refund.source_id }),
      }),
    ),
    ...restorations.map(
      ({ money, quota, source_id: sourceId, created_at: at }): OrderEvent => ({
        ...EMPTY_EVENT,
        kind: 'restored',
        at,
        money,
        quota,
        sourceId,
      }),
    ),
  ]
  // The sort is stable, so a report stays before its refund if both have the same time.
  return events.toSorted((a, b) => a.at - b.at)
}

/**
 * Converts the payment provider's reports to events. Each report repeats all data of a refund or
 * dispute. A report about a dispute is therefore compared with the previous report, and only the
 * differences become events. Without a difference, the report becomes an event of the kind
 * `disputeUpdated`.
 */
function reportEvents(reports: readonly PaymentReport[]): OrderEvent[] {
  const latest = new Map<string, PaymentReport>()
  return reports.flatMap((report) => {
    const before = latest.get(report.report_id)
    latest.set(report.report_id, report)
    const kinds = report.kind === 'dispute' ? disputeKinds(report, before) : [refundKind(report)]
    return kinds.map((kind, index): OrderEvent => {
      const hasStatus = kind === 'disputeOpened' || kind === 'disputeUpdated'
      return {
        ...EMPTY_EVENT,
        kind,
        at: report.created_at,
        money: report.money,
        sourceId: report.report_id,
        reason: before === undefined && index === 0 ? report.reason : '',
        ...(hasStatus && { status: report.status, dueBy: report.due_by }),
      }
    })
  })
}

const REFUND_KINDS: Readonly<Record<string, ReportedKind>> = {
  succeeded: 'refundSucceeded',
  failed: 'refundFailed',
  canceled: 'refundCanceled',
}

/**
 * Matches the id of a charge at Stripe. A refund report with such an id contains the sum of all
 * refunds of the charge. A refund report with any other id is about a single refund.
 */
const CHARGE_ID = /^(ch|py)_/

function refundKind({ report_id, status }: PaymentReport): ReportedKind {
  if (CHARGE_ID.test(report_id)) return 'refundTotal'
  return REFUND_KINDS[status] ?? 'refundPending'
}

const OUTCOME_KINDS = { won: 'disputeWon', lost: 'disputeLost', closed: 'disputeClosed' } as const

function disputeKinds(report: PaymentReport, before: PaymentReport | undefined): ReportedKind[] {
  const { status, due_by, is_withdrawn, is_reinstated } = report
  const outcome = disputeOutcome(status)
  const kinds: ReportedKind[] = []
  if (outcome === null && before === undefined) kinds.push('disputeOpened')
  if (is_withdrawn && before?.is_withdrawn !== true) kinds.push('fundsWithdrawn')
  if (outcome !== null && before?.status !== status) kinds.push(OUTCOME_KINDS[outcome])
  if (is_reinstated && before?.is_reinstated !== true) kinds.push('fundsReinstated')
  const hasChanged = before !== undefined && (before.status !== status || before.due_by !== due_by)
  if (kinds.length === 0 || (outcome === null && hasChanged)) kinds.push('disputeUpdated')
  return kinds
}

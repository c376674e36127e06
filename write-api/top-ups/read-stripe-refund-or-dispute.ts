import type Stripe from 'stripe'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { ReportDispute, ReportRefund } from '#domain/top-ups/commands.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'

/** Stripe's report of a refund or a dispute, with the fields that this site uses. */
export type StripeReport = {
  /** The id of the payment intent. If it is null, the payment can't be from this site. */
  readonly paymentId: string | null
  /**
   * The trade number in the report, or null. The checkout stored this number with the payment, to
   * identify the order.
   */
  readonly tradeNo: string | null
  readonly command:
    | Omit<ReportRefund, 'changesBefore' | 'note'>
    | Omit<ReportDispute, 'changesBefore' | 'note'>
}

const REFUNDS = new Set([
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refund.updated',
])
const DISPUTES = new Set(
  ['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'].map(
    (word) => `charge.dispute.${word}`,
  ),
)

const id = Type.String({ minLength: 1, maxLength: 255 })
const code = Type.String({ maxLength: 100 })
const orNull = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
const minorUnits = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const paid = { id, currency: Type.String({ maxLength: 10 }), payment_intent: orNull(id) }

const refunds = Compile(
  Type.Object({ ...paid, amount: minorUnits, status: orNull(code), reason: orNull(code) }),
)

const disputes = Compile(
  Type.Object({
    ...paid,
    amount: minorUnits,
    status: code,
    reason: code,
    evidence_details: orNull(Type.Object({ due_by: orNull(minorUnits) })),
  }),
)

const charges = Compile(
  Type.Object({
    ...paid,
    amount_refunded: minorUnits,
    metadata: orNull(Type.Object({ trade_no: orNull(Type.String({ maxLength: 255 })) })),
  }),
)

/**
 * Converts a Stripe event to a report. Returns null if the event is not about a refund or a
 * dispute. Throws 400 if a required field is missing.
 */
export function readStripeReport({ type, created, data }: Stripe.Event): StripeReport | null {
  const object: unknown = data?.object
  if (REFUNDS.has(type)) return refundReport(object)
  if (DISPUTES.has(type)) return disputeReport(type, created, object)
  return type === 'charge.refunded' ? chargeReport(object) : null
}

function refundReport(refund: unknown): StripeReport {
  if (!refunds.Check(refund)) throw httpError('InvalidRequest')
  return {
    paymentId: refund.payment_intent ?? null,
    tradeNo: null,
    command: {
      type: 'ReportRefund',
      refundId: refund.id,
      isTotal: false,
      cents: BigInt(refund.amount),
      currency: refund.currency.toUpperCase(),
      // Refunds of some payment methods have no status. Such refunds count as pending.
      status: refund.status ?? 'pending',
      reason: refund.reason ?? '',
    },
  }
}

function disputeReport(type: string, statedAt: unknown, dispute: unknown): StripeReport {
  const isTime = typeof statedAt === 'number' && Number.isSafeInteger(statedAt) && statedAt >= 0
  if (!disputes.Check(dispute) || !isTime) throw httpError('InvalidRequest')
  const isWithdrawn = type === 'charge.dispute.funds_withdrawn'
  const isReinstated = type === 'charge.dispute.funds_reinstated'
  return {
    paymentId: dispute.payment_intent ?? null,
    tradeNo: null,
    command: {
      type: 'ReportDispute',
      disputeId: dispute.id,
      cents: BigInt(dispute.amount),
      currency: dispute.currency.toUpperCase(),
      status: dispute.status,
      reason: dispute.reason,
      // Stripe sends 0 if no evidence can be submitted.
      dueBy: dispute.evidence_details?.due_by || null,
      funds: isWithdrawn ? 'withdrawn' : isReinstated ? 'reinstated' : null,
      statedAt,
    },
  }
}

/**
 * Converts the event `charge.refunded`, which states the total refunds of a charge, to a report.
 * Stripe sends this event even if the `refund.*` events are not enabled.
 */
function chargeReport(charge: unknown): StripeReport {
  if (!charges.Check(charge)) throw httpError('InvalidRequest')
  return {
    paymentId: charge.payment_intent ?? null,
    tradeNo: charge.metadata?.trade_no ?? null,
    command: {
      type: 'ReportRefund',
      refundId: charge.id,
      isTotal: true,
      cents: BigInt(charge.amount_refunded),
      currency: charge.currency.toUpperCase(),
      status: 'succeeded',
      reason: '',
    },
  }
}

import type { Refusal } from '../shared/refusal.ts'

export type TopUpRefusalCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /** What the provider said is not what was ordered; details: `field`. */
  | 'TopUpMismatch'
  /** Details: `paymentId`, of the payment that counted. */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /** More than is left of what was paid, or nothing; details: `left`. */
  | 'RefundOutOfRange'
  /** Somebody else refunded a part of it in between. */
  | 'RefundedMeanwhile'

export type TopUpRefusal = Refusal<TopUpRefusalCode>

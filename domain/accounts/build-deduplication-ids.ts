type OrderAction = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

/**
 * Returns the id of a top-up's credit, restoration or deduction. The account recognizes a repeated
 * command by this id.
 */
export const topUpId = (action: OrderAction): string => `top-up-${suffix(action)}`
export const rebateId = (action: OrderAction): string => `rebate-${suffix(action)}`

/**
 * Returns the id of one batch of a correction. The account recognizes a repeated batch by this id.
 */
export const correctionBatchId = (of: {
  readonly correctionId: string
  readonly batch: number
}): string => `correction:${of.correctionId}:${of.batch}`

function suffix({ orderId, refundNo, restoreNo }: OrderAction): string {
  if (restoreNo !== undefined) return `${orderId}-restored-${restoreNo}`
  return refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`
}

type Of = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

/**
 * Returns the id of a top-up's credit or deduction. The account recognises a repeated command by
 * this id.
 */
export const topUpId = (of: Of): string => `top-up-${suffix(of)}`
export const rebateId = (of: Of): string => `rebate-${suffix(of)}`

/**
 * Returns the id of one batch of a correction. The account recognises a repeated batch by this id.
 */
export const correctionBatchId = (of: {
  readonly correctionId: string
  readonly batch: number
}): string => `correction:${of.correctionId}:${of.batch}`

function suffix({ orderId, refundNo, restoreNo }: Of): string {
  if (restoreNo !== undefined) return `${orderId}-restored-${restoreNo}`
  return refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`
}

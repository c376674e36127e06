type Of = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

/**
 * The id by which the account remembers a credit; refunds and restorations have their number in it.
 */
export const topUpId = (of: Of): string => `top-up-${suffix(of)}`
export const rebateId = (of: Of): string => `rebate-${suffix(of)}`

function suffix({ orderId, refundNo, restoreNo }: Of): string {
  if (restoreNo !== undefined) return `${orderId}-restored-${restoreNo}`
  return refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`
}

type Of = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

/** Returns the id by which the account recognises a repeated credit or deduction. */
export const topUpId = (of: Of): string => `top-up-${suffix(of)}`
export const rebateId = (of: Of): string => `rebate-${suffix(of)}`

function suffix({ orderId, refundNo, restoreNo }: Of): string {
  if (restoreNo !== undefined) return `${orderId}-restored-${restoreNo}`
  return refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`
}

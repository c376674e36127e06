type Of = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

/** What the account remembers a credit by; of a refund or a restoration, with its number. */
export const topUpId = (of: Of): string => `top-up-${suffix(of)}`
export const rebateId = (of: Of): string => `rebate-${suffix(of)}`

function suffix({ orderId, refundNo, restoreNo }: Of): string {
  if (restoreNo !== undefined) return `${orderId}-restored-${restoreNo}`
  return refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`
}

type Of = { readonly orderId: number; readonly refundNo?: number }

/** What the account remembers a credit by; of a refund, with its number. */
export const topUpId = (of: Of): string => `top-up-${suffix(of)}`
export const rebateId = (of: Of): string => `rebate-${suffix(of)}`

const suffix = ({ orderId, refundNo }: Of): string =>
  refundNo === undefined ? `${orderId}` : `${orderId}-${refundNo}`

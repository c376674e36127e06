import type { TopUpOrdered } from '#domain/top-ups/events.ts'

/** By default, user 7 orders $1 via EPay. */
export const orderedTopUp = (
  patch: Partial<Omit<TopUpOrdered['data'], 'quota'>> & { readonly quota?: number } = {},
): TopUpOrdered => {
  const { quota = 500_000, ...fields } = patch
  return {
    type: 'TopUpOrdered',
    v: 1,
    data: {
      orderId: 1,
      userId: 7,
      tradeNo: 'T1X0123456789ABCDEF01234567',
      provider: 'epay',
      method: 'wx',
      merchant: '1001',
      amount: 1,
      money: '7.30',
      currency: 'CNY',
      code: null,
      ...fields,
      quota: quota as TopUpOrdered['data']['quota'],
    },
  }
}

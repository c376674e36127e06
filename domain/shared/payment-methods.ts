/** The payment methods: Alipay and WeChat Pay through Epay, and Stripe. */
export const PAYMENT_METHODS = ['zfb', 'wx', 'stripe'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]

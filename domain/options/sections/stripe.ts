import { decimal, SECRET } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

/** Currencies with two digits after the point, as all sums of money here are. */
const CURRENCIES = ['USD', 'EUR', 'GBP', 'CNY', 'HKD', 'SGD', 'AUD', 'CAD', 'CHF', 'INR'] as const

export const STRIPE: OptionSection = {
  id: 'stripe',
  tab: 'system',
  title: { zh: 'Stripe 支付', en: 'Stripe' },
  lead: {
    zh: '在 Stripe 后台添加 Webhook：服务器地址 + /api/stripe/webhook，并启用下方列出的事件。',
    en: 'At Stripe, add a webhook to the public address + /api/stripe/webhook (events: below).',
  },
  options: [
    {
      key: 'StripeApiKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'API 密钥', en: 'API key' },
      help: { zh: '留空则停用 Stripe。', en: 'Empty: Stripe is off.' },
    },
    {
      key: 'StripeWebhookSecret',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Webhook 签名密钥', en: 'Webhook secret' },
      help: {
        zh:
          '需启用的事件：checkout.session.completed、' +
          'checkout.session.async_payment_succeeded、' +
          'charge.refunded、refund.created、refund.updated、refund.failed、' +
          'charge.dispute.*（全部 5 个）。' +
          '缺少退款与拒付事件时，额度不会自动扣回。留空则停用 Stripe，也不再接受其回调。',
        en:
          'Events to enable: checkout.session.completed, ' +
          'checkout.session.async_payment_succeeded, charge.refunded, refund.created, ' +
          'refund.updated, refund.failed and all five of charge.dispute.*. ' +
          'Without those of refunds and disputes no quota is taken back automatically. ' +
          'Empty: Stripe is off, and its callbacks are refused.',
      },
    },
    {
      key: 'StripePrice',
      type: decimal('0.0001', '1000000'),
      preset: '1',
      access: 'root',
      label: { zh: 'Stripe 价格（每美元额度）', en: 'Price of one dollar, at Stripe' },
    },
    {
      key: 'StripeCurrency',
      type: { kind: 'choice', choices: CURRENCIES },
      preset: 'USD',
      access: 'root',
      label: { zh: '币种', en: 'Currency' },
    },
  ],
}

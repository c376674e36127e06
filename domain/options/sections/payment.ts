import type { OptionSection } from '../option-definition.ts'
import { decimal, integer, RATIOS_ABOVE_ZERO, SECRET, text, URL_TEXT } from '../option-type.ts'

export const PAYMENT: OptionSection = {
  id: 'payment',
  tab: 'system',
  title: { zh: '支付设置', en: 'Payment' },
  lead: {
    zh: '在线充值的网关与价格。支付回调使用服务器地址，请先填写。',
    en: 'The gateway for top-ups, and what a dollar costs. It calls back at the public address.',
  },
  options: [
    {
      key: 'PayAddress',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '支付网关地址', en: 'Payment gateway' },
      help: { zh: '易支付网关；留空则不启用。', en: 'An epay gateway; empty: not used.' },
    },
    {
      key: 'EpayId',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: '易支付商户 ID', en: 'Payment merchant' },
    },
    {
      key: 'EpayKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: '易支付商户密钥', en: 'Payment key' },
      help: {
        zh: '留空则停用该网关，也不再接受其回调。',
        en: 'Empty: the gateway is off, and its callbacks are refused.',
      },
    },
    {
      key: 'Price',
      // With a price of 0, users would receive quota for free.
      type: decimal('0.0001', '1000000'),
      preset: '7.3',
      access: 'root',
      label: { zh: '充值价格（每美元）', en: 'Price of one dollar of quota' },
      help: { zh: '人民币，经由支付网关。', en: 'In CNY, by the gateway.' },
    },
    {
      key: 'MinTopUp',
      type: integer(1, 1_000_000),
      preset: '1',
      unit: 'dollar',
      access: 'root',
      label: { zh: '最低充值数量', en: 'Least top-up' },
    },
    {
      key: 'TopUpCodes',
      // An order with a price of 0 cannot be paid.
      type: RATIOS_ABOVE_ZERO,
      preset: '{}',
      access: 'root',
      label: { zh: '充值码', en: 'Top-up codes' },
      help: {
        zh: '充值码 → 价格倍率：0.9 即九折。到账额度不变，可多次使用。',
        en: 'Code → factor of the price: 0.9 takes 10% off. The quota stays, uses are not counted.',
      },
    },
    {
      key: 'TopUpLink',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '充值链接', en: 'Link to buy quota' },
      help: { zh: '例如发卡网站的购买链接。', en: 'A shop that sells codes, for example.' },
    },
  ],
}

/** All currencies have two decimal places, because the code stores money in hundredths. */
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

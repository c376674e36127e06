import type { OptionSection } from '../option-definition.ts'
import { decimal, integer, RATIOS_ABOVE_ZERO, SECRET, text, URL_TEXT } from '../option-type.ts'

export const PAYMENT: OptionSection = {
  id: 'payment',
  tab: 'system',
  options: [
    { key: 'PayAddress', type: URL_TEXT, preset: '', access: 'root' },
    { key: 'EpayId', type: text(200), preset: '', access: 'root' },
    { key: 'EpayKey', type: SECRET, preset: '', access: 'secret' },
    {
      key: 'Price',
      // With a price of 0, users would receive quota for free.
      type: decimal('0.0001', '1000000'),
      preset: '7.3',
      access: 'root',
    },
    { key: 'MinTopUp', type: integer(1, 1_000_000), preset: '1', unit: 'dollar', access: 'root' },
    {
      key: 'TopUpCodes',
      // An order with a price of 0 cannot be paid.
      type: RATIOS_ABOVE_ZERO,
      preset: '{}',
      access: 'root',
    },
    { key: 'TopUpLink', type: URL_TEXT, preset: '', access: 'root' },
  ],
}

/**
 * Only currencies with two decimal places are listed, because the code stores money in hundredths.
 */
const CURRENCIES = ['USD', 'EUR', 'GBP', 'CNY', 'HKD', 'SGD', 'AUD', 'CAD', 'CHF', 'INR'] as const

export const STRIPE: OptionSection = {
  id: 'stripe',
  tab: 'system',
  options: [
    { key: 'StripeApiKey', type: SECRET, preset: '', access: 'secret' },
    { key: 'StripeWebhookSecret', type: SECRET, preset: '', access: 'secret' },
    { key: 'StripePrice', type: decimal('0.0001', '1000000'), preset: '1', access: 'root' },
    {
      key: 'StripeCurrency',
      type: { kind: 'choice', choices: CURRENCIES },
      preset: 'USD',
      access: 'root',
    },
  ],
}

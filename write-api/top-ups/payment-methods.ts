import { optionValue } from '#domain/options/registry.ts'
import type { DecimalText } from '#domain/pricing/price.ts'
import type { PaymentMethod, PaymentProvider } from '#domain/top-up/events.ts'
import type { Core } from '#infra/core.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { allOptions } from '#projections/options/query.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { topUpError } from './top-up-errors.ts'

type Values = ReadonlyMap<string, string>

export type Epay = { readonly address: string; readonly merchant: string; readonly key: string }

type StripeKeys = { readonly apiKey: string; readonly webhookSecret: string }

/** The options of this moment; a provider that lacks one of its secrets is off: null. */
export type PaymentMethods = {
  readonly values: Values
  readonly epay: Epay | null
  readonly stripe: StripeKeys | null
}

export async function paymentMethods(core: Pick<Core, 'db' | 'vault'>): Promise<PaymentMethods> {
  const { values, secretRefs } = await allOptions(core.db)
  const secret = (key: string) => readSecretOption(core, secretRefs, key)
  const [key, apiKey, webhookSecret] = await Promise.all([
    secret('EpayKey'),
    secret('StripeApiKey'),
    secret('StripeWebhookSecret'),
  ])
  const address = optionValue(values, 'PayAddress').replace(/\/+$/, '')
  const merchant = optionValue(values, 'EpayId')
  const isEpay = address !== '' && merchant !== '' && key !== ''
  return {
    values,
    epay: isEpay ? { address, merchant, key } : null,
    stripe: apiKey !== '' && webhookSecret !== '' ? { apiKey, webhookSecret } : null,
  }
}

/** Who takes the money, and at which price of a dollar. */
export type Terms = {
  readonly provider: PaymentProvider
  readonly price: DecimalText
  readonly currency: string
}

/** The terms of a way to pay. Throws when it is off. */
export function termsOf({ values, epay, stripe }: PaymentMethods, method: PaymentMethod): Terms {
  if (epay === null && stripe === null) throw topUpError('TopUpClosed')
  if (method === 'stripe') {
    if (stripe === null) throw topUpError('PaymentMethodClosed')
    const currency = optionValue(values, 'StripeCurrency')
    return { provider: 'stripe', price: optionValue(values, 'StripePrice'), currency }
  }
  if (epay === null) throw topUpError('PaymentMethodClosed')
  return { provider: 'epay', price: optionValue(values, 'Price'), currency: 'CNY' }
}

/**
 * Where providers call back and send browsers back to. NOTE: as configured alone, never by a
 * request's `Host`: whoever chose it would hear of payments in our place.
 */
export function ownAddress(values: Values): string {
  const address = optionValue(values, 'ServerAddress').replace(/\/+$/, '')
  if (address === '') throw topUpError('PaymentAddressRequired')
  return address
}

type Needed = Pick<Core, 'db' | 'vault' | 'log'>

/** A provider that was begun to be set and lacks a secret is off: its callbacks are refused. */
export function warnOfPartialConfig({ log }: Pick<Core, 'log'>, ways: PaymentMethods): void {
  const { values, epay } = ways
  if (optionValue(values, 'PayAddress') === '' || epay !== null) return
  const facts = { alarm: 'payment-gateway-off', provider: 'epay' }
  warnThrottled(
    log,
    facts,
    'PayAddress is set, and EpayId or EpayKey is not: no payment is credited',
  )
}

/** At the start, where the options can be read by then. */
export async function warnAtStart(core: Needed): Promise<void> {
  try {
    warnOfPartialConfig(core, await paymentMethods(core))
  } catch (err) {
    core.log.debug({ err }, 'the ways to pay could not be looked at yet')
  }
}

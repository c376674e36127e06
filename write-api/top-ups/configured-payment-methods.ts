import { optionValue } from '#domain/options/option-registry.ts'
import type { DecimalText } from '#domain/pricing/price-snapshot.ts'
import type { PaymentMethod } from '#domain/shared/payment-methods.ts'
import type { PaymentProvider } from '#domain/top-ups/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { allOptions } from '#projections/options/query.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { topUpError } from './top-up-errors.ts'

type Values = ReadonlyMap<string, string>

export type Epay = { readonly address: string; readonly merchant: string; readonly key: string }

type StripeKeys = { readonly apiKey: string; readonly webhookSecret: string }

/**
 * The payment providers with their current settings. A provider is null if a setting is missing.
 */
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
  const isEpayComplete = address !== '' && merchant !== '' && key !== ''
  return {
    values,
    epay: isEpayComplete ? { address, merchant, key } : null,
    stripe: apiKey !== '' && webhookSecret !== '' ? { apiKey, webhookSecret } : null,
  }
}

/**
 * The provider that processes a payment method, and the price (in `currency`) of quota worth one US
 * dollar.
 */
export type PaymentTerms = {
  readonly provider: PaymentProvider
  readonly price: DecimalText
  readonly currency: string
}

/** Returns the provider and price of a payment method. Throws if the method is disabled. */
export function termsOf(
  { values, epay, stripe }: PaymentMethods,
  method: PaymentMethod,
): PaymentTerms {
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
 * Returns the site's address, to which payment providers send notifications and redirects. Throws
 * if the address is not configured. NOTE: the `Host` header is never used, because a caller could
 * choose the address that receives the payment notifications.
 */
export function publicAddress(values: Values): string {
  const address = optionValue(values, 'ServerAddress').replace(/\/+$/, '')
  if (address === '') throw topUpError('PaymentAddressRequired')
  return address
}

type StartupDeps = Pick<Core, 'db' | 'vault' | 'log'>

/**
 * Logs a warning if the settings of the Epay gateway are incomplete. In this case, the gateway is
 * disabled, and its payment notifications are rejected.
 */
export function warnOfPartialConfig({ log }: Pick<Core, 'log'>, methods: PaymentMethods): void {
  const { values, epay } = methods
  if (optionValue(values, 'PayAddress') === '' || epay !== null) return
  const details = { alarm: 'payment-gateway-off', provider: 'epay' }
  warnThrottled(
    log,
    details,
    'PayAddress is set but EpayId or EpayKey is not, so no payment is credited',
  )
}

/**
 * Logs the warning of `warnOfPartialConfig` when the process starts. If the options cannot be read
 * yet, logs no warning.
 */
export async function warnOfPartialConfigAtStart(core: StartupDeps): Promise<void> {
  try {
    warnOfPartialConfig(core, await paymentMethods(core))
  } catch (err) {
    core.log.debug({ err }, 'the payment methods could not be read yet')
  }
}

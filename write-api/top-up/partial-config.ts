import { optionValue } from '#domain/options/registry.ts'
import type { Core } from '#infra/core.ts'
import { warnThrottled } from '#infra/telemetry/throttled-warning.ts'
import { type PaymentMethods, paymentMethods } from './payment-methods.ts'

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

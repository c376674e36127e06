import { optionValue } from '#domain/options/registry.ts'
import type { Core } from '#infra/core.ts'
import { warnSeldom } from '#infra/telemetry/seldom.ts'
import { type WaysToPay, waysToPay } from './ways-to-pay.ts'

type Needed = Pick<Core, 'db' | 'vault' | 'log'>

/** A provider that was begun to be set and lacks a secret is off: its callbacks are refused. */
export function warnOfHalfSet({ log }: Pick<Core, 'log'>, ways: WaysToPay): void {
  const { values, epay } = ways
  if (optionValue(values, 'PayAddress') === '' || epay !== null) return
  const facts = { alarm: 'payment-gateway-off', provider: 'epay' }
  warnSeldom(log, facts, 'PayAddress is set, and EpayId or EpayKey is not: no payment is credited')
}

/** At the start, where the options can be read by then. */
export async function warnAtStart(core: Needed): Promise<void> {
  try {
    warnOfHalfSet(core, await waysToPay(core))
  } catch (err) {
    core.log.debug({ err }, 'the ways to pay could not be looked at yet')
  }
}

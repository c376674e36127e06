import { optionFlag, optionInteger, optionValue } from '#domain/options/registry.ts'
import type { BreakerOptions } from './breaker.ts'

/** When the gateway turns a channel off for good, and what counts towards that. */
export type DisableOptions = {
  readonly isEnabled: boolean
  readonly failures: number
  readonly windowMs: number
  /** In lower case. */
  readonly keywords: readonly string[]
  /** A scheduled test that goes well turns on again what the gateway had turned off. */
  readonly isTakingBack: boolean
}

export type HealthOptions = {
  readonly breaker: BreakerOptions
  readonly disable: DisableOptions
  /** A slower test counts as failed; 0: none is too slow. */
  readonly testMsMax: number
  /** So many slow scheduled tests in a row turn a channel off. */
  readonly slowTestsMax: number
  /** null: no tests by the clock. */
  readonly tests: { readonly everyMs: number | null }
}

export function readHealthOptions(values: ReadonlyMap<string, string>): HealthOptions {
  const number = (name: string): number => optionInteger(values, `channel_health.${name}`)
  return {
    breaker: {
      isEnabled: optionFlag(values, 'channel_health.circuit_enabled'),
      failures: number('circuit_failures'),
      ratePercent: number('circuit_rate'),
      rateCalls: number('circuit_rate_calls'),
      windowMs: number('circuit_window_seconds') * 1_000,
      cooldownMs: number('circuit_cooldown_seconds') * 1_000,
      cooldownMsMax: number('circuit_cooldown_max_seconds') * 1_000,
    },
    disable: {
      isEnabled: optionFlag(values, 'AutomaticDisableChannelEnabled'),
      failures: number('disable_failures'),
      windowMs: number('disable_window_seconds') * 1_000,
      keywords: optionValue(values, 'AutomaticDisableKeywords')
        .split('\n')
        .map((line) => line.trim().toLowerCase())
        .filter((line) => line !== ''),
      isTakingBack: optionFlag(values, 'AutomaticEnableChannelEnabled'),
    },
    testMsMax: Number(optionValue(values, 'ChannelDisableThreshold')) * 1_000,
    slowTestsMax: number('slow_tests'),
    tests: {
      everyMs: optionFlag(values, 'channel_health.test_enabled')
        ? number('test_minutes') * 60_000
        : null,
    },
  }
}

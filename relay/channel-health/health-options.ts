import { optionFlag, optionInteger, optionValue } from '#domain/options/option-registry.ts'
import type { BreakerOptions } from './circuit-breaker.ts'

type DisableOptions = {
  readonly isEnabled: boolean
  readonly failures: number
  readonly windowMs: number
  /** The keywords of account errors, in lower case. */
  readonly keywords: readonly string[]
  /** True if a successful scheduled test enables a channel that the gateway has disabled. */
  readonly isReenabling: boolean
}

/** The settings of circuits, automatic disabling and scheduled tests. */
export type HealthOptions = {
  readonly breaker: BreakerOptions
  readonly disable: DisableOptions
  /** The duration in milliseconds above which a test counts as slow. 0 sets no limit. */
  readonly testMsMax: number
  /** The number of consecutive slow scheduled tests after which a channel is disabled. */
  readonly slowTestsMax: number
  /** The interval of scheduled tests; null if no tests are scheduled. */
  readonly tests: { readonly everyMs: number | null }
}

/** Reads the settings from `values`, which maps the names of the site's options to their values. */
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
      isReenabling: optionFlag(values, 'AutomaticEnableChannelEnabled'),
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

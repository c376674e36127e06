import type { OptionSection } from '../option-definition.ts'
import { decimal, FLAG, integer, LIST, lines } from '../option-type.ts'

export const CHANNELS: OptionSection = {
  id: 'channels',
  tab: 'models',
  options: [
    { key: 'RetryTimes', type: integer(0, 3), preset: '0' },
    { key: 'ModelFallbacks', type: { kind: 'lists-by-name' }, preset: '{}' },
    { key: 'AutoGroups', type: LIST, preset: '[]' },
    { key: 'AutomaticDisableChannelEnabled', type: FLAG, preset: 'false' },
    { key: 'AutomaticEnableChannelEnabled', type: FLAG, preset: 'false' },
    { key: 'ChannelDisableThreshold', type: decimal('0', '86400'), preset: '5', unit: 'second' },
    { key: 'AutomaticDisableKeywords', type: lines(20_000), preset: '' },
    { key: 'session_affinity.enabled', type: FLAG, preset: 'true' },
    {
      key: 'session_affinity.idle_minutes',
      type: integer(1, 1_440),
      preset: '60',
      unit: 'minute',
    },
  ],
}

export const CHANNEL_HEALTH: OptionSection = {
  id: 'channel-health',
  tab: 'models',
  options: [
    { key: 'channel_health.circuit_enabled', type: FLAG, preset: 'true' },
    { key: 'channel_health.circuit_failures', type: integer(1, 1_000), preset: '5' },
    { key: 'channel_health.circuit_rate', type: integer(1, 100), preset: '50', unit: 'percent' },
    { key: 'channel_health.circuit_rate_calls', type: integer(2, 100_000), preset: '20' },
    {
      key: 'channel_health.circuit_window_seconds',
      type: integer(1, 3_600),
      preset: '30',
      unit: 'second',
    },
    {
      key: 'channel_health.circuit_cooldown_seconds',
      type: integer(1, 3_600),
      preset: '30',
      unit: 'second',
    },
    {
      key: 'channel_health.circuit_cooldown_max_seconds',
      type: integer(1, 86_400),
      preset: '600',
      unit: 'second',
    },
    { key: 'channel_health.disable_failures', type: integer(1, 1_000), preset: '3' },
    {
      key: 'channel_health.disable_window_seconds',
      type: integer(1, 86_400),
      preset: '600',
      unit: 'second',
    },
    { key: 'channel_health.slow_tests', type: integer(1, 1_000), preset: '3' },
    { key: 'channel_health.test_enabled', type: FLAG, preset: 'false' },
    { key: 'channel_health.test_minutes', type: integer(1, 1_440), preset: '10', unit: 'minute' },
  ],
}

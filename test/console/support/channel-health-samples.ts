import type {
  ChannelHealth,
  CircuitState,
  HealthFigures,
  HealthHistory,
  HistoryRange,
} from '#read-api/contract/channel-health.ts'
import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'

const NOW = Date.now()
const MINUTE = Math.floor(NOW / 60_000) * 60

export const figures = (patch: Partial<HealthFigures>): HealthFigures => ({
  successes: 412,
  failures: 3,
  latency_ms: { p50: 840, p95: 2_600, p99: 5_100 },
  first_token_ms: { p50: 310, p95: 720 },
  tokens_per_second: 48.2,
  anomalies: 0,
  ...patch,
})

export const circuit = (patch: Partial<CircuitState>): CircuitState => ({
  model: null,
  key_index: null,
  state: 'open',
  reason: 'status-503',
  failures: 5,
  round: 2,
  until: NOW + 47_000,
  opened_at: NOW - 13_000,
  ...patch,
})

export function channelHealth(patch: Partial<ChannelHealth>): ChannelHealth {
  const of = { m5: figures({}), h1: figures({}), d1: figures({}) }
  return {
    id: 1,
    name: 'OpenAI main',
    tag: '',
    status: 1,
    status_reason: '',
    status_time: MINUTE - 86_400,
    in_flight: 3,
    max_concurrency: 0,
    max_rpm: 0,
    balance: null,
    balance_updated_time: 0,
    is_last: false,
    circuits: [],
    figures: of,
    models: [{ model: 'gpt-4o', figures: of }],
    minutes: Array.from({ length: 60 }, (_, n) => [MINUTE - n * 60, 7, 0]),
    ...patch,
  }
}

const NOTHING = { m5: null, h1: null, d1: null }
const slow = figures({
  successes: 61,
  failures: 22,
  latency_ms: { p50: 3_400, p95: 12_800, p99: 19_000 },
})

/** One channel in each important state. */
export const HEALTH_CHANNELS: readonly ChannelHealth[] = [
  channelHealth({
    balance: 182.4,
    balance_updated_time: MINUTE,
    in_flight: 12,
    max_concurrency: 20,
    models: [
      { model: 'gpt-4o', figures: { m5: figures({}), h1: figures({}), d1: figures({}) } },
      { model: 'gpt-4o-mini', figures: { m5: null, h1: slow, d1: slow } },
      { model: 'o3', figures: NOTHING },
    ],
  }),
  channelHealth({
    id: 2,
    name: 'Azure East US 2, second deployment',
    tag: 'primary',
    is_last: true,
    circuits: [
      circuit({ key_index: 1, reason: 'status-429' }),
      circuit({}),
      circuit({ model: 'gpt-4o', state: 'half-open', reason: 'timeout' }),
    ],
    figures: { m5: slow, h1: slow, d1: slow },
    minutes: Array.from({ length: 30 }, (_, n) => [MINUTE - n * 60, n, 30 - n]),
    in_flight: 4,
    max_concurrency: 4,
    max_rpm: 600,
  }),
  channelHealth({
    id: 3,
    name: 'Backup',
    status: 3,
    status_reason: 'invalid_api_key',
    figures: { m5: null, h1: null, d1: slow },
    minutes: [],
    in_flight: 0,
    balance: -0.5,
    balance_updated_time: MINUTE,
  }),
  channelHealth({ id: 4, name: 'Local', status: 2, figures: NOTHING, minutes: [], in_flight: 0 }),
  channelHealth({ id: 5, name: 'New one', figures: NOTHING, minutes: [], in_flight: null }),
]

/** Returns a history with gaps at night, and one hour in which most calls failed. */
export function healthHistory(range: HistoryRange = '24h'): HealthHistory {
  const step = { '1h': 120, '24h': 1_800, '7d': 10_800 }[range]
  const steps = { '1h': 30, '24h': 48, '7d': 56 }[range]
  const last = Math.floor(NOW / 1_000 / step) * step
  const points = Array.from({ length: steps }, (_, index) => {
    const at = last - (steps - 1 - index) * step
    if (index % 17 > 12)
      return { at, successes: 0, failures: 0, latency_ms: null, first_token_ms: null }
    const failures = index === 20 ? 70 : index % 5
    const p50 = 700 + 220 * Math.sin(index / 4) + (index === 20 ? 2_100 : 0)
    return {
      at,
      successes: 90 - (index === 20 ? 60 : 0),
      failures,
      latency_ms: { p50: Math.round(p50), p95: Math.round(p50 * 2.6) },
      first_token_ms: { p50: 310, p95: 720 },
    }
  })
  return { range, step, points }
}

const entry = (id: number, minutes: number, rest: Partial<TimelineEntry>): TimelineEntry => ({
  id,
  at: NOW - minutes * 60_000,
  kind: 'created',
  by: null,
  ...rest,
})

export const TIMELINE: readonly TimelineEntry[] = [
  entry(9, 1, {
    kind: 'circuit-opened',
    reason: 'status-503',
    model: null,
    count: 5,
    until: NOW + 47_000,
  }),
  entry(10, 12, { kind: 'circuit-opened', reason: 'status-429', key: 1, model: null, count: 5 }),
  entry(8, 30, { kind: 'tested', model: 'gpt-4o', is_success: true, duration_ms: 812 }),
  entry(7, 55, { kind: 'circuit-closed', reason: 'probe', model: null }),
  ...[61, 62, 64, 65, 71, 72, 83].map((minutes, index) =>
    entry(60 - index, minutes, {
      kind: index % 2 === 0 ? 'circuit-opened' : 'circuit-half-opened',
      model: 'gpt-4o',
      ...(index % 2 === 0 ? { reason: 'timeout', count: 1 } : {}),
    }),
  ),
  entry(50, 84, {
    kind: 'circuit-closed',
    reason: 'admin',
    model: 'gpt-4o',
    by: { id: 1, name: 'root' },
  }),
  entry(6, 90, {
    kind: 'terms-changed',
    by: { id: 1, name: 'root' },
    fields: ['priority', 'models', 'max_concurrency'],
  }),
  entry(5, 1_500, { kind: 'enabled', by: { id: 1, name: 'root' } }),
  entry(4, 1_560, { kind: 'auto-disabled', reason: 'insufficient_quota' }),
]

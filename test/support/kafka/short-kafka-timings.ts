import type { KafkaTimings } from '#infra/event-bus/kafka/kafka-timings.ts'

/** Short, but long enough for a busy machine, on which consumers must not leave their group. */
export const QUICK_TIMINGS: Partial<KafkaTimings> = {
  sessionTimeoutMs: 3_000,
  heartbeatMs: 300,
  fetchWaitMs: 200,
  requestTimeoutMs: 5_000,
  silentMs: 6_000,
  reconnectMsMax: 1_000,
  outOfGroupMs: 2_000,
  laneTtlMs: 3_000,
  graceMs: 1_000,
  stallMs: 800,
  headPollMs: 200,
  storePollMs: 100,
  watermarkMs: 100,
  publisherTtlMs: 2_500,
}

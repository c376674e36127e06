import type { KafkaTimings } from '#infra/event-bus/kafka/timings.ts'

/** What lasts seconds in production, so short that tests can wait for it. */
export const QUICK_TIMINGS: Partial<KafkaTimings> = {
  sessionTimeoutMs: 1_500,
  heartbeatMs: 200,
  fetchWaitMs: 200,
  requestTimeoutMs: 3_000,
  silentMs: 4_000,
  reconnectMsMax: 1_000,
  awayMs: 1_500,
  laneTtlMs: 2_000,
  graceMs: 1_000,
  stallMs: 800,
  headPollMs: 200,
  storePollMs: 100,
  watermarkMs: 100,
  publisherTtlMs: 1_500,
}

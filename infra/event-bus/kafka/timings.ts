/** Durations in milliseconds. Tests shorten them. */
export type KafkaTimings = {
  /** A consumer without a heartbeat for this long loses its partitions. */
  readonly sessionTimeoutMs: number
  readonly heartbeatMs: number
  /** A broker may hold back a fetch without messages for this long. */
  readonly fetchWaitMs: number
  readonly requestTimeoutMs: number
  /** A consumer without a successful heartbeat for this long is replaced. */
  readonly silentMs: number
  /** The longest pause before the next attempt to connect. */
  readonly reconnectMsMax: number
  /** After this long out of the group, a process acquires lanes that no process holds. */
  readonly outOfGroupMs: number
  /** A process that stalls keeps its lanes for this long. */
  readonly laneTtlMs: number
  /** Work in progress for a lost lane may take this long before another process gets the lane. */
  readonly graceMs: number
  /** Kafka may be late by this much before a lane is fed from the event store. */
  readonly stallMs: number
  /**
   * The intervals at which the head of the store is polled: while Kafka delivers, and while it does
   * not.
   */
  readonly headPollMs: number
  readonly storePollMs: number
  /** The minimum time between two watermarks. */
  readonly watermarkMs: number
  readonly publisherTtlMs: number
}

export const KAFKA_TIMINGS: KafkaTimings = {
  sessionTimeoutMs: 10_000,
  heartbeatMs: 2_000,
  fetchWaitMs: 500,
  requestTimeoutMs: 10_000,
  silentMs: 30_000,
  reconnectMsMax: 5_000,
  outOfGroupMs: 6_000,
  laneTtlMs: 10_000,
  graceMs: 2_000,
  stallMs: 2_000,
  headPollMs: 1_000,
  storePollMs: 200,
  watermarkMs: 200,
  publisherTtlMs: 10_000,
}

/** The timings of the Kafka bus, in milliseconds. Tests use shorter values. */
export type KafkaTimings = {
  /** The time without a heartbeat after which a consumer loses its partitions. */
  readonly sessionTimeoutMs: number
  readonly heartbeatMs: number
  /** The maximum time for which a broker delays the response to a fetch without messages. */
  readonly fetchWaitMs: number
  readonly requestTimeoutMs: number
  /** The time without a successful heartbeat after which a consumer is replaced. */
  readonly silentMs: number
  readonly reconnectMsMax: number
  /**
   * The time outside of its consumer group after which a process acquires unleased lanes.
   */
  readonly outOfGroupMs: number
  /** The lease time of a lane. A stalled process keeps its lanes for this time. */
  readonly laneTtlMs: number
  /** The time for which work in progress may continue after its lane was lost. */
  readonly graceMs: number
  /** The time without progress through Kafka after which a lane is fed from the event store. */
  readonly stallMs: number
  /** The interval at which the store's last position is polled while Kafka delivers. */
  readonly headPollMs: number
  readonly storePollMs: number
  /**
   * The minimum time between two watermarks. A watermark is a message without an event: it says
   * that its lane has no further event up to a position.
   */
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

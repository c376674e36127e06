/** The timings of the Kafka bus, in milliseconds. Tests use shorter values. */
export type KafkaTimings = {
  /** The time without a heartbeat after which a consumer loses its partitions. */
  readonly sessionTimeoutMs: number
  readonly heartbeatMs: number
  /** The maximum time for which a broker waits for a new message before it responds to a fetch. */
  readonly fetchWaitMs: number
  readonly requestTimeoutMs: number
  /** The time without a successful heartbeat after which a consumer is replaced. */
  readonly silentMs: number
  readonly reconnectMsMax: number
  /** A process that is outside of its consumer group for this time acquires the unleased lanes. */
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
   * that its lane has no more events up to a position.
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

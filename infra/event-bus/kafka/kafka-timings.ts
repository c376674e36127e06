/** The timings of the Kafka bus, in milliseconds. Tests use shorter values. */
export type KafkaTimings = {
  /** A consumer that sends no heartbeat for this long loses its partitions. */
  readonly sessionTimeoutMs: number
  readonly heartbeatMs: number
  /** A broker may delay the response to a fetch for this long while there are no messages. */
  readonly fetchWaitMs: number
  readonly requestTimeoutMs: number
  /** A consumer that has no successful heartbeat for this long is replaced. */
  readonly silentMs: number
  /** The longest pause before the next attempt to connect. */
  readonly reconnectMsMax: number
  /**
   * A process that is out of its consumer group for this long acquires lanes (partitions) that no
   * process has.
   */
  readonly outOfGroupMs: number
  /** The lease time of a lane (partition). A process that stalls keeps its lanes for this long. */
  readonly laneTtlMs: number
  /**
   * When a lane (partition) is lost, work in progress may continue for this long before the lane is
   * released.
   */
  readonly graceMs: number
  /**
   * When Kafka's messages for a lane (partition) are later than this, the lane's events are read
   * from the event store.
   */
  readonly stallMs: number
  /**
   * The interval at which the position of the store's last event is polled while Kafka delivers.
   * `storePollMs` applies while Kafka does not deliver.
   */
  readonly headPollMs: number
  readonly storePollMs: number
  /** The minimum time between two watermarks (messages without an event). */
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

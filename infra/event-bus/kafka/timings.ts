/** How long things take, all in milliseconds. Tests shorten them. */
export type KafkaTimings = {
  /** A consumer that is not heard of for so long loses its partitions. */
  readonly sessionTimeoutMs: number
  readonly heartbeatMs: number
  /** How long a broker may hold a fetch back until there is something. */
  readonly fetchWaitMs: number
  readonly requestTimeoutMs: number
  /** A consumer without a successful heartbeat for so long is replaced. */
  readonly silentMs: number
  /** The longest pause before the next try to connect. */
  readonly reconnectMsMax: number
  /** Without a place in the group for so long, lanes that nobody holds are taken. */
  readonly awayMs: number
  /** How long a process that stands still keeps its lanes. */
  readonly laneTtlMs: number
  /** What a lane that was lost has under way may take so long before another gets the lane. */
  readonly graceMs: number
  /** Kafka may be so late before a lane is fed from the event store. */
  readonly stallMs: number
  /** How often the head of the store is looked at: with Kafka in order, and instead of it. */
  readonly headPollMs: number
  readonly storePollMs: number
  /** The least time between two watermarks. */
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
  awayMs: 6_000,
  laneTtlMs: 10_000,
  graceMs: 2_000,
  stallMs: 2_000,
  headPollMs: 1_000,
  storePollMs: 200,
  watermarkMs: 200,
  publisherTtlMs: 10_000,
}

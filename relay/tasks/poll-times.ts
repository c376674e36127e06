export type PollTimes = {
  readonly everyMs: number
  /**
   * The age in milliseconds after which a task can expire if no provider is known to have accepted
   * it.
   */
  readonly staleMs: number
  /**
   * The time in milliseconds after which a task fails if its provider does not know the task (see
   * `PollerTimes`). The default is two minutes.
   */
  readonly missingMs?: number
}

export const POLL_TIMES: PollTimes = { everyMs: 5_000, staleMs: 600_000 }

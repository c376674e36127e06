import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'

export type Pace = 'good' | 'slow' | 'bad'

export const paceOfDuration = (seconds: number): Pace =>
  seconds < 101 ? 'good' : seconds < 300 ? 'slow' : 'bad'

export const paceOfFirstToken = (ms: number): Pace =>
  ms < 3_000 ? 'good' : ms < 10_000 ? 'slow' : 'bad'

/**
 * Returns the duration of a call in milliseconds. Returns null for an interrupted call, because the
 * server process that handled the call stopped before the call ended.
 */
export const durationMs = (row: LogEntry, other: LogOther): number | null =>
  other.end === 'interrupted' ? null : (other.duration_ms ?? row.use_time * 1000)

/** Formats a duration as `840 ms`, `3.2 s` or `62 s`. */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}

/**
 * Returns the output tokens per second. For a streamed call, the time to the first token is not
 * counted. Returns null if the call has no output tokens or no known duration. Also returns null
 * for a batch, because the provider decides when to process the requests of a batch.
 */
export function tokensPerSecond(row: LogEntry, other: LogOther): number | null {
  const totalMs = durationMs(row, other)
  if (totalMs === null || other.batch_id !== undefined) return null
  const ms = totalMs - (row.is_stream ? (other.frt ?? 0) : 0)
  return row.completion_tokens > 0 && ms > 0 ? (row.completion_tokens * 1000) / ms : null
}

/**
 * The bar of one attempt to send a call to a channel. `start` and `length` are fractions (0 to 1)
 * of the total duration of the call's attempts.
 */
export type AttemptBar = {
  readonly index: number
  readonly channel: number
  readonly status: number | null
  readonly error: string | null
  readonly ms: number
  readonly start: number
  readonly length: number
}

export function attemptBars(other: LogOther): AttemptBar[] {
  const attempts = other.admin_info?.attempts ?? []
  const totalMs = attempts.reduce((sum, { ms }) => sum + ms, 0)
  let before = 0
  return attempts.map((attempt, index) => {
    const start = totalMs === 0 ? 0 : before / totalMs
    before += attempt.ms
    return { index, ...attempt, start, length: totalMs === 0 ? 1 : attempt.ms / totalMs }
  })
}

export const retriesOf = (other: LogOther): number =>
  Math.max(0, (other.admin_info?.use_channel?.length ?? 0) - 1)

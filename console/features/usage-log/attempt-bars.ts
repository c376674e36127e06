import type { LogOther } from '#read-api/contract/logs.ts'

/**
 * The bar of one attempt, which is the sending of a call to one channel. `start` and `length` are
 * fractions (0 to 1) of the total time of all attempts of the call.
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

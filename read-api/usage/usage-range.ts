import { invalidField } from '#infra/http/faults.ts'
import { Query, wholeOf } from '../question.ts'

export const UsageRange = { start_timestamp: Query.whole, end_timestamp: Query.whole }

const DAY = 86_400
const DEFAULT_SPAN = 7 * DAY
const SPAN_MAX = 100 * DAY

/** The range asked for, in unix seconds: the last week unless it is said; never too long. */
export function usageRange(
  query: { start_timestamp?: string; end_timestamp?: string },
  now: number,
): { from: number; to: number } {
  const to = wholeOf(query.end_timestamp) ?? Math.floor(now / 1_000)
  const from = wholeOf(query.start_timestamp) ?? Math.max(0, to - DEFAULT_SPAN)
  if (to - from <= SPAN_MAX) return { from, to }
  throw invalidField('start_timestamp', {
    zh: '时间范围不能超过 100 天',
    en: 'must be at most 100 days before end_timestamp',
  })
}

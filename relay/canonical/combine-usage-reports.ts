import { isObject, type JsonObject } from './json-values.ts'
import { anomalyOf, DIGITS, type UsageAnomaly } from './provider-usage-report.ts'

/**
 * Matches the names of token counts. Names that begin with `total` are excluded, because a total is
 * not billed and so need not be valid.
 */
const COUNT = /^(?!total).*(?:tokens|TokenCount)$|^tokenCount$/
/**
 * The names of counts that make a prompt cheaper. A later count with such a name replaces the
 * earlier one, even if the later count is smaller.
 */
const CACHED = new Set(['cached_tokens', 'prompt_cache_hit_tokens'])
/** The number of levels of nested objects and lists in a report that are searched for counts. */
const LEVELS = 3

/**
 * Combines the usage reports of two events of a stream in OpenAI's formats. Counts are cumulative,
 * so the larger count is kept, and an invalid or missing count does not replace a valid one. Of a
 * count in `CACHED` and of any other member, the later value is kept, unless it is missing or null.
 * Nested objects are combined in the same way.
 */
export function combineReports(earlier: unknown, later: unknown, levels = LEVELS): unknown {
  if (!isObject(earlier) || !isObject(later) || levels === 0) return later ?? earlier
  const combined: Record<string, unknown> = { ...earlier }
  for (const [name, value] of Object.entries(later)) {
    const before = combined[name]
    combined[name] =
      COUNT.test(name) && !CACHED.has(name)
        ? largerCount(before, value)
        : combineReports(before, value, levels - 1)
  }
  return combined
}

/** Reports whether a value is a valid token count: an integer of 0 or more. */
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0

/**
 * Returns the larger of two counts. If `earlier` is a valid count, `later` replaces it only if
 * `later` is a larger number, which may be written as a text of digits. If `earlier` is not valid,
 * `later` is returned, unless it is missing or null.
 */
export function largerCount(earlier: unknown, later: unknown): unknown {
  if (!isCount(earlier)) return later ?? earlier
  const count = typeof later === 'string' && DIGITS.test(later) ? Number(later) : later
  return typeof count === 'number' && count > earlier ? later : earlier
}

/**
 * Finds the first count that is valid in the earlier report and invalid in the later one. Returns
 * the anomaly of the later value, or null if there is no such count. The combined report may not
 * show the invalid value, because it usually keeps the valid count.
 */
export function anomalyInLater(
  earlier: unknown,
  later: unknown,
  levels = LEVELS,
): UsageAnomaly | null {
  const before = membersOf(earlier)
  for (const [name, value] of Object.entries(membersOf(later))) {
    if (value === null) continue
    const isHidden = COUNT.test(name) && isCount(before[name])
    const inner = levels > 1 ? anomalyInLater(before[name], value, levels - 1) : null
    const anomaly = isHidden ? anomalyOf(value, Number.POSITIVE_INFINITY) : inner
    if (anomaly !== null) return anomaly
  }
  return null
}

/**
 * Returns the members of an object, the elements of a list by their index, or an empty object for
 * any other value.
 */
const membersOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

/**
 * If a later report has fewer output tokens than an earlier one, this is an anomaly if the earlier
 * count is above this number. A smaller earlier count may be a placeholder: Anthropic's first event
 * reports a few output tokens before the answer begins, and a very short answer may have fewer.
 */
const EARLY_OUTPUT_MAX = 32

/** The result of comparing a later usage report in a stream with the earlier ones. */
type ReportUpdate = {
  /** True if the later report has a valid output count that is not below the earlier one. */
  readonly isCurrent: boolean
  readonly isMissing: boolean
  readonly anomaly: UsageAnomaly | null
}

/**
 * Compares two usage reports in a stream. `earlier` and `later` are the raw output counts of the
 * reports. `isTextBetween` is true if text was delivered between the reports.
 */
export function compareOutputs(
  earlier: unknown,
  later: unknown,
  isTextBetween: boolean,
): ReportUpdate {
  const isMissing = later === undefined || later === null
  if (!isCount(later)) return { isCurrent: false, isMissing, anomaly: null }
  if (!isCount(earlier) || later >= earlier) return { isCurrent: true, isMissing, anomaly: null }
  const isWrong = earlier > EARLY_OUTPUT_MAX || (later === 0 && isTextBetween)
  return { isCurrent: false, isMissing, anomaly: isWrong ? 'decreased' : null }
}

import {
  NO_USAGE,
  TOOL_NAMES,
  type ToolCounts,
  type ToolName,
  type Usage,
} from '#domain/pricing/usage.ts'

/** The token counts that a provider has reported for one answer, after they were checked. */
export type UsageReport = {
  /** The token counts, each limited to its ceiling. A count that can't be read is 0. */
  readonly usage: Usage
  /**
   * A second interpretation of a report that has more cached tokens than prompt tokens. Null for
   * any other report. The second interpretation assumes that the prompt count excludes the cached
   * tokens, as at Anthropic. The interpretation in `usage` assumes that the prompt count includes
   * the cached tokens, and limits these tokens to the prompt count.
   */
  readonly otherInterpretation: Usage | null
  /**
   * True if every count in the report is valid. If a part, such as the cached tokens, exceeds its
   * total, the part is reduced, and the report stays trusted.
   */
  readonly isTrusted: boolean
  readonly anomaly: UsageAnomaly | null
  /**
   * The reported uses of the provider's tools, before they are checked (see `readToolUses`).
   * Omitted if the report does not count tool uses. In that case, the gateway counts the uses in
   * the answer.
   */
  readonly toolUses?: ReportedToolUses
}

export type ReportedToolUses = Readonly<Partial<Record<ToolName, unknown>>>

/**
 * What is unusual about a usage report. With some of these anomalies, the report is not trusted or
 * its counts were reduced.
 */
export type UsageAnomaly =
  | 'negative'
  | 'fraction'
  | 'not-a-number'
  | 'absurd'
  | 'missing'
  /** Fewer tokens than in an earlier report about the same answer. */
  | 'decreased'
  /** No tokens for a request, or for an answer that has content. */
  | 'zero'
  /** Far more tokens than the request's length and output limit make plausible. */
  | 'implausible'
  | 'parts-exceed-whole'

/** The maximum token counts that are charged, even if a provider reports more. */
export type UsageBounds = {
  readonly inputCeiling: number
  readonly outputCeiling: number
}

/**
 * Returns the report that `read` returns. If `read` throws, calls `onUnreadable` and returns a
 * report without tokens that is not trusted, so that the gateway's own count is charged. The call
 * would otherwise not end, and its hold would remain.
 */
export function reportOrUnreadable(
  read: () => UsageReport,
  onUnreadable: (err: unknown) => void = () => {},
): UsageReport {
  try {
    return read()
  } catch (err) {
    onUnreadable(err)
    const anomaly = 'not-a-number'
    return { usage: NO_USAGE, otherInterpretation: null, isTrusted: false, anomaly }
  }
}

/** The largest plausible token count. No request of any size has more tokens. */
export const TOKENS_MAX = 10_000_000

/**
 * Returns the highest output count that is charged. It is above the output limit of the request,
 * because some providers don't count reasoning towards the limit.
 */
export const outputCeiling = (outputTokensMax: number): number =>
  Math.min(TOKENS_MAX, outputTokensMax * 2 + 100_000)

/**
 * Divides a reported total of tokens into kinds. `left` is the number of tokens that no kind has
 * taken yet. `take` takes `part` tokens for a kind, or all remaining tokens if fewer are left, and
 * returns the number of tokens that it took.
 */
export class RemainingTokens {
  left: number

  constructor(count: number) {
    this.left = count
  }

  take(part: number): number {
    const granted = Math.min(part, this.left)
    this.left -= granted
    return granted
  }
}

/** Reads the counts of a report and stores the first anomaly, such as a negative count. */
export class Counts {
  anomaly: UsageAnomaly | null = null

  required(value: unknown, most: number): number {
    if (value !== undefined && value !== null) return this.count(value, most)
    this.anomaly ??= 'missing'
    return 0
  }

  optional(value: unknown, most = TOKENS_MAX): number {
    return value === undefined || value === null ? 0 : this.count(value, most)
  }

  private count(value: unknown, most: number): number {
    const anomaly = anomalyOf(value, most)
    if (anomaly === null) return value as number
    this.anomaly ??= anomaly
    const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
    if (typeof count !== 'number' || Number.isNaN(count)) return 0
    return Math.min(Math.ceil(Math.max(count, 0)), most)
  }
}

/**
 * Reads reported uses of the provider's tools. Each count is limited to the tool's count in `most`.
 * An invalid count does not affect the token counts.
 */
export function readToolUses(
  reported: ReportedToolUses,
  most: ToolCounts,
): { readonly uses: ToolCounts; readonly anomaly: UsageAnomaly | null } {
  const counts = new Counts()
  const uses: Partial<Record<ToolName, number>> = {}
  for (const name of TOOL_NAMES) {
    const count = counts.optional(reported[name], most[name] ?? 0)
    if (count > 0) uses[name] = count
  }
  return { uses, anomaly: counts.anomaly }
}

/** Matches a count that a provider sends as a string. */
export const DIGITS = /^\d{1,16}$/

/** Returns the anomaly of a value, or null if the value is a valid count of at most `most`. */
export function anomalyOf(value: unknown, most: number): UsageAnomaly | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'not-a-number'
  if (value < 0) return 'negative'
  if (value > most) return 'absurd'
  return Number.isInteger(value) ? null : 'fraction'
}

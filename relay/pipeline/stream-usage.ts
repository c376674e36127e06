import { anomalyInLater, compareOutputs } from '#relay/canonical/combine-usage-reports.ts'
import { numericOf } from '#relay/canonical/json-values.ts'
import type { UsageAnomaly } from '#relay/canonical/provider-usage-report.ts'
import type { StreamFormat } from '../dialects/stream-format.ts'

/**
 * The usage that a provider reports in the events of one stream. The counts in the reports are
 * cumulative. A report without a valid output count does not cover the text before it, so it is not
 * final.
 */
export class StreamUsage {
  /** The reports combined, unparsed; undefined if none was reported. */
  raw: unknown
  /** True if text was delivered after the last report. The report may then be too low. */
  hasTextAfterUsage = false
  private anomalyInReports: UsageAnomaly | null = null
  private lacksOutput = false
  private readonly stream: StreamFormat

  constructor(stream: StreamFormat) {
    this.stream = stream
  }

  /**
   * An anomaly that `raw` does not show; otherwise null. There is an anomaly if a later report
   * contains an invalid count or clearly fewer output tokens, or if the report at the end of the
   * answer omits the output count.
   */
  get anomaly(): UsageAnomaly | null {
    return this.anomalyInReports ?? (this.hasTextAfterUsage && this.lacksOutput ? 'missing' : null)
  }

  /** True if the reports so far count tokens of output. */
  get hasOutput(): boolean {
    return numericOf(this.stream.outputCount?.(this.raw)) > 0
  }

  /**
   * Adds a report. Returns true if its output count covers all text up to and including the event
   * with the report.
   */
  add(report: unknown): boolean {
    const { combineUsage, outputCount } = this.stream
    const { raw: earlier, hasTextAfterUsage } = this
    this.raw = combineUsage(earlier, report)
    if (earlier === undefined || outputCount === undefined) {
      this.lacksOutput = false
      return true
    }
    const invalid = anomalyInLater(earlier, report)
    const { isCurrent, isMissing, anomaly } = compareOutputs(
      outputCount(earlier),
      outputCount(report),
      hasTextAfterUsage,
    )
    this.anomalyInReports ??= invalid ?? anomaly
    this.lacksOutput = isMissing
    return isCurrent
  }
}

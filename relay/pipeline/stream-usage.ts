import { anomalyInLater, compareOutputs } from '#relay/canonical/combine-usage-reports.ts'
import type { UsageAnomaly } from '#relay/canonical/provider-usage-report.ts'
import type { StreamFormat } from '../dialects/wire-format.ts'

/**
 * The usage that a provider reports in the events of one stream. Counts are cumulative. A report
 * without a valid output count says nothing about the text before it, so it is not final.
 */
export class StreamUsage {
  /** The reports combined, unparsed; undefined if none was reported. */
  raw: unknown
  /** True if text was delivered after the last report, which may therefore be too low. */
  isEarly = false
  private anomalyInReports: UsageAnomaly | null = null
  private lacksOutput = false
  private readonly stream: StreamFormat

  constructor(stream: StreamFormat) {
    this.stream = stream
  }

  /**
   * An anomaly that `raw` does not show: a count that a later report makes invalid, smaller or, at
   * the end of the answer, omits.
   */
  get anomaly(): UsageAnomaly | null {
    return this.anomalyInReports ?? (this.isEarly && this.lacksOutput ? 'missing' : null)
  }

  /** Adds a report. Returns true if its output includes the text so far, and that of its event. */
  add(report: unknown): boolean {
    const { combineUsage, outputCount } = this.stream
    const { raw: earlier, isEarly } = this
    this.raw = combineUsage(earlier, report)
    if (earlier === undefined || outputCount === undefined) {
      this.lacksOutput = false
      return true
    }
    const invalid = anomalyInLater(earlier, report)
    const { isCurrent, isMissing, anomaly } = compareOutputs(
      outputCount(earlier),
      outputCount(report),
      isEarly,
    )
    this.anomalyInReports ??= invalid ?? anomaly
    this.lacksOutput = isMissing
    return isCurrent
  }
}

import type { CorrectedRatios } from '../pricing/charge-at-corrected-price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** The stream of all corrections of charges. */
export const CORRECTIONS_STREAM = 'corrections'

/** The calls of a correction, and the price that should have been applied to them. */
export type CorrectionScope = {
  readonly model: string
  /** The group of the calls, or null for the calls of all groups. */
  readonly group: string | null
  /** Only calls that ended from `from` to `to` are corrected (Unix seconds, both included). */
  readonly from: number
  readonly to: number
  readonly price: CorrectedRatios
  /** Only calls whose final event has at most this position are corrected. */
  readonly upTo: number
  /** The number of corrections that had started when the preview of this correction was made. */
  readonly base: number
}

/** The sums of a correction, computed before it is applied. */
export type CorrectionSums = {
  readonly calls: number
  readonly accounts: number
  /**
   * `refunded` is the total that accounts get back. `charged` is the total that accounts pay in
   * addition.
   */
  readonly refunded: WireQuota
  readonly charged: WireQuota
}

/**
 * A super admin confirmed the preview of a correction. From now on, the calls of the preview are
 * corrected.
 */
export type CorrectionStarted = Fact<
  'CorrectionStarted',
  {
    /**
     * The id is a digest of the scope, of its calls, and of the charge of each call before and
     * after the correction.
     */
    readonly id: string
    readonly scope: CorrectionScope
    readonly planned: CorrectionSums
    /** The reason, encrypted with the data key of the admin. */
    readonly note: Sealed
    readonly requestedBy: number
    readonly startedAt: number
  }
>

/** An account whose calls could not be corrected. `code` is the code of the error. */
export type FailedAccount = {
  readonly userId: number
  readonly calls: number
  readonly code: string
}

/** All calls of a correction are corrected, except those of accounts that failed. */
export type CorrectionFinished = Fact<
  'CorrectionFinished',
  {
    readonly id: string
    readonly finishedAt: number
    /** The first hundred accounts that failed. Omitted if there are none. */
    readonly failed?: readonly FailedAccount[]
  }
>

export type CorrectionEvent = CorrectionStarted | CorrectionFinished

import type { CorrectedRatios } from '../pricing/price-corrections.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
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
   * `refunded` is the total that accounts get back. `charged` is the total that they pay in
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
     * The id: a digest of the scope and of the calls in it, with the charge of each call before and
     * after.
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

export type Correction = CorrectionStarted['data'] & {
  readonly finishedAt: number | null
  readonly failed?: readonly FailedAccount[]
}

/** All corrections, oldest first. */
export type CorrectionsState = { readonly corrections: readonly Correction[] }

export type CorrectionCommand =
  | ({ readonly type: 'StartCorrection' } & CorrectionStarted['data'])
  | ({ readonly type: 'FinishCorrection' } & CorrectionFinished['data'])

export type CorrectionErrorCode =
  /** A correction that could concern some of the same calls has not finished. Params: `id`. */
  | 'CorrectionRunning'
  /** Another correction has started, or another call has ended, since the preview was made. */
  | 'CorrectionPreviewOutdated'

/** Reports whether two corrections could concern the same call. */
export const areOverlapping = (one: CallsOfScope, other: CallsOfScope): boolean =>
  one.model === other.model &&
  (one.group === null || other.group === null || one.group === other.group) &&
  one.from <= other.to &&
  other.from <= one.to

type CallsOfScope = Pick<CorrectionScope, 'model' | 'group' | 'from' | 'to'>

/**
 * Decides about corrections. Two corrections that could concern the same call never run at the same
 * time. The preview of a correction must also be later than the start of all corrections of the
 * same calls, so that it shows the charges that the correction replaces. Corrections of different
 * calls do not wait for each other.
 */
export const correctionsDecider: Decider<
  CorrectionsState,
  CorrectionCommand,
  CorrectionEvent,
  CodedError<CorrectionErrorCode>
> = {
  initialState: () => ({ corrections: [] }),
  decide: (command, { corrections }) => {
    const { type, ...data } = command
    const existing = corrections.find(({ id }) => id === command.id)
    if (command.type === 'FinishCorrection') {
      if (existing === undefined || existing.finishedAt !== null) return []
      const { id, finishedAt, failed = [] } = command
      const failures = failed.length === 0 ? {} : { failed: failed.slice(0, FAILED_MAX) }
      return [{ type: 'CorrectionFinished', v: 1, data: { id, finishedAt, ...failures } }]
    }
    if (existing !== undefined) return []
    const { scope } = command
    const running = findRunning(corrections, scope)
    if (running !== null) return codedError('CorrectionRunning', { id: running.id })
    const later = corrections.slice(scope.base)
    const isOutdated =
      scope.base > corrections.length || later.some((one) => areOverlapping(one.scope, scope))
    if (isOutdated) return codedError('CorrectionPreviewOutdated')
    return [{ type: 'CorrectionStarted', v: 1, data: data as CorrectionStarted['data'] }]
  },
  evolve: ({ corrections }, event) => {
    if (event.type === 'CorrectionStarted') {
      return { corrections: [...corrections, { ...event.data, finishedAt: null }] }
    }
    const { id, ...end } = event.data
    return {
      corrections: corrections.map((one) => (one.id === id ? { ...one, ...end } : one)),
    }
  },
}

const FAILED_MAX = 100

/**
 * Returns the unfinished correction that could concern calls of the scope, or null if there is
 * none.
 */
export const findRunning = (
  corrections: CorrectionsState['corrections'],
  scope: CallsOfScope,
): Correction | null =>
  corrections.find((one) => one.finishedAt === null && areOverlapping(one.scope, scope)) ?? null

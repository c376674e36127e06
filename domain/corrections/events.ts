import type { PriceChange } from '../pricing/price-corrections.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** The stream of all corrections of charges. */
export const CORRECTIONS_STREAM = 'corrections'

/** Selects the calls of a correction, and contains the price that they should have had. */
export type CorrectionScope = {
  readonly model: string
  /** Null for the calls of all groups. */
  readonly group: string | null
  /** The calls that ended from `from` to `to` (unix seconds, both included). */
  readonly from: number
  readonly to: number
  readonly price: PriceChange
  /** Calls whose end has a later position are not corrected. */
  readonly upTo: number
  /** The number of corrections that had started before this one. */
  readonly base: number
}

/** The sums of a correction, computed before it is applied. */
export type CorrectionSums = {
  readonly calls: number
  readonly accounts: number
  /** The total that accounts get back, and the total that they are charged in addition. */
  readonly refunded: WireQuota
  readonly charged: WireQuota
}

/** A super admin confirmed a preview. From now on, its calls are corrected. */
export type CorrectionStarted = Fact<
  'CorrectionStarted',
  {
    /** The id: a digest of the scope, and of each call with its charge before and after. */
    readonly id: string
    readonly scope: CorrectionScope
    readonly planned: CorrectionSums
    /** The reason, encrypted with the data key of the admin. */
    readonly note: Sealed
    readonly requestedBy: number
    readonly startedAt: number
  }
>

/** An account whose calls could not be corrected, and the code of the error. */
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
  /** A correction of some of the same calls has not finished. Params: `id`. */
  | 'CorrectionRunning'
  /** Another correction started, or another call ended, after the preview was made. */
  | 'CorrectionPreviewOutdated'

/** Returns whether two corrections could concern the same call. */
export const areOverlapping = (one: CallsOfScope, other: CallsOfScope): boolean =>
  one.model === other.model &&
  (one.group === null || other.group === null || one.group === other.group) &&
  one.from <= other.to &&
  other.from <= one.to

type CallsOfScope = Pick<CorrectionScope, 'model' | 'group' | 'from' | 'to'>

/**
 * Decides about corrections. Of corrections that could concern the same call, only one runs at a
 * time. Each must have been previewed after the last of them started, so that the charges in its
 * preview are those from which it starts. Corrections of different calls do not wait for each
 * other.
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

/** Returns the correction that has not finished and could concern calls of the scope, or null. */
export const findRunning = (
  corrections: CorrectionsState['corrections'],
  scope: CallsOfScope,
): Correction | null =>
  corrections.find((one) => one.finishedAt === null && areOverlapping(one.scope, scope)) ?? null

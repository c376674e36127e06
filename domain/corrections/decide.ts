import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type {
  CorrectionEvent,
  CorrectionFinished,
  CorrectionScope,
  CorrectionStarted,
  FailedAccount,
} from './events.ts'

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
  /**
   * Since the preview, another correction of the same calls has started, or another call has ended
   * that belongs to the scope.
   */
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
 * same calls. The preview therefore shows the charges that the correction replaces. Corrections of
 * different calls do not wait for each other.
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

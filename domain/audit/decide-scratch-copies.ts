import { type CodedError, codedError } from '../shared/coded-error.ts'
import type {
  ScratchCopiesEnded,
  ScratchCopyBuilt,
  ScratchCopyEnd,
  ScratchCopyRequested,
} from './events.ts'

export type ScratchCopyJob = {
  readonly kind: 'scratch-copy'
  readonly request: ScratchCopyRequested['data']
  readonly result: ScratchCopyBuilt['data'] | null
  readonly failure: { readonly finishedAt: number } | null
  readonly end: { readonly reason: ScratchCopyEnd; readonly endedAt: number } | null
}

/**
 * The maximum number of scratch copies that may exist at once. A scratch copy is a copy of the read
 * models as of an earlier position, and is as large as the read models.
 */
export const SCRATCH_COPIES_MAX = 2
/**
 * The maximum number of copies of one auditor, so that one auditor cannot prevent all others from
 * making a copy.
 */
export const SCRATCH_COPIES_OF_AUDITOR_MAX = 1
/** The time in milliseconds after which a copy is dropped. */
export const SCRATCH_COPY_KEPT_MS = 24 * 3_600_000
/** The maximum number of ended copies that are kept in the list of copies. */
const ENDED_KEPT = 20

export type ScratchCopyCommand =
  | ({
      readonly type: 'RequestScratchCopy'
      /** The maximum number of copies that the requesting user may have at once. */
      readonly ownMax: number
    } & ScratchCopyRequested['data'])
  | ({ readonly type: 'FinishScratchCopy' } & ScratchCopyBuilt['data'])
  | {
      readonly type: 'EndScratchCopies'
      /** The ids of the copies to end. Null ends all copies. */
      readonly ids: readonly string[] | null
      readonly reason: ScratchCopyEnd
      readonly endedAt: number
    }

export type ScratchCopyErrorCode =
  /** The maximum number of copies already exists. Params: `max`. */
  | 'TooManyScratchCopies'
  /** The user already has the maximum number of copies per user. Params: `max`. */
  | 'TooManyOwnScratchCopies'

/** Reports whether a copy is being built or can be opened. */
export const isActiveCopy = ({ failure, end }: ScratchCopyJob): boolean =>
  failure === null && end === null

export const isReadyCopy = (copy: ScratchCopyJob): boolean =>
  isActiveCopy(copy) && copy.result !== null

export const isBuildingCopy = (copy: ScratchCopyJob): boolean =>
  isActiveCopy(copy) && copy.result === null

/** Reports whether a copy has reached its maximum age. `now` is in Unix milliseconds. */
export const isExpiredCopy = (copy: ScratchCopyJob, now: number): boolean =>
  isActiveCopy(copy) && now >= copy.request.requestedAt + SCRATCH_COPY_KEPT_MS

export function decideOnScratchCopies(
  command: ScratchCopyCommand,
  copies: readonly ScratchCopyJob[],
):
  | readonly (ScratchCopyRequested | ScratchCopyBuilt | ScratchCopiesEnded)[]
  | CodedError<ScratchCopyErrorCode> {
  switch (command.type) {
    case 'RequestScratchCopy': {
      const { type, ownMax, ...data } = command
      if (copies.some(({ request }) => request.id === data.id)) return []
      const existing = copies.filter(isActiveCopy)
      if (existing.length >= SCRATCH_COPIES_MAX) {
        return codedError('TooManyScratchCopies', { max: SCRATCH_COPIES_MAX })
      }
      const own = existing.filter(({ request }) => request.requestedBy === data.requestedBy)
      if (own.length >= ownMax) return codedError('TooManyOwnScratchCopies', { max: ownMax })
      return [{ type: 'ScratchCopyRequested', v: 1, data }]
    }
    case 'FinishScratchCopy': {
      const { type, ...data } = command
      const isBuilding = copies.some((copy) => copy.request.id === data.id && isBuildingCopy(copy))
      return isBuilding ? [{ type: 'ScratchCopyBuilt', v: 1, data }] : []
    }
    case 'EndScratchCopies': {
      const { ids, reason, endedAt } = command
      const ended = copies
        .filter((copy) => isActiveCopy(copy) && (ids === null || ids.includes(copy.request.id)))
        .map(({ request }) => request.id)
      if (ended.length === 0) return []
      return [{ type: 'ScratchCopiesEnded', v: 1, data: { ids: ended, reason, endedAt } }]
    }
  }
}

export function withRequestedCopy(
  copies: readonly ScratchCopyJob[],
  request: ScratchCopyRequested['data'],
): readonly ScratchCopyJob[] {
  const ended = copies.filter((copy) => !isActiveCopy(copy)).slice(-ENDED_KEPT)
  const kept = copies.filter((copy) => isActiveCopy(copy) || ended.includes(copy))
  return [...kept, { kind: 'scratch-copy', request, result: null, failure: null, end: null }]
}

export const withEndedCopies = (
  copies: readonly ScratchCopyJob[],
  { ids, ...end }: ScratchCopiesEnded['data'],
): readonly ScratchCopyJob[] =>
  copies.map((copy) => (ids.includes(copy.request.id) ? { ...copy, end } : copy))

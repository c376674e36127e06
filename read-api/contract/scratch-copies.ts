import Type, { type Static } from 'typebox'
import { Envelope } from './response-envelope.ts'
import { Progress } from './verifications.ts'

/**
 * The request header with the id of a scratch copy: a temporary copy of the read models as of an
 * earlier position. With this header, a read is answered from the copy if the copy has the data.
 * Every write is rejected.
 */
export const SCRATCH_COPY_HEADER = 'x-scratch-copy'

/**
 * The status of a scratch copy. A `ready` copy can be opened. The last five statuses are final:
 * - `failed`: the copy could not be built.
 * - `deleted`: a user deleted the copy.
 * - `expired`: the time for which a copy is kept has ended.
 * - `too_large`: the tables of the copy exceeded the size limit.
 * - `erased`: the data of a user was erased, and the copy may have contained this data.
 */
const STATUSES = [
  'waiting',
  'building',
  'ready',
  'failed',
  'deleted',
  'expired',
  'too_large',
  'erased',
] as const
export type ScratchCopyStatus = (typeof STATUSES)[number]

export const ScratchCopy = Type.Object({
  id: Type.String(),
  requested_by: Type.Union([Type.Integer(), Type.Null()]),
  status: Type.Unsafe<ScratchCopyStatus>(
    Type.Union(STATUSES.map((status) => Type.Literal(status))),
  ),
  /** The copy contains the events up to this position. All times are in Unix seconds. */
  position: Type.Integer(),
  /** The time at which the last event that the copy contains was recorded. */
  as_of: Type.Integer(),
  requested_at: Type.Integer(),
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  /** The time after which the copy is deleted. */
  expires_at: Type.Integer(),
  /** The size of the copy's tables in bytes. Null until the tables are complete. */
  bytes: Type.Union([Type.Integer(), Type.Null()]),
  progress: Type.Union([Progress, Type.Null()]),
})
export type ScratchCopy = Static<typeof ScratchCopy>

export const scratchCopyQueries = {
  'GET /api/audit/scratch-copies': {
    summary: 'List copies of the read models as of a position, newest first',
    response: {
      200: Envelope(
        Type.Object({
          items: Type.Array(ScratchCopy),
          /**
           * The maximum number of copies at the same time. `kept_hours` is the number of hours for
           * which a copy is kept.
           */
          max: Type.Integer(),
          kept_hours: Type.Integer(),
          /** The position of the latest event. A new copy can't have a later position. */
          head: Type.Integer(),
        }),
      ),
    },
  },
}

import Type, { type Static } from 'typebox'
import { Envelope } from './response-envelope.ts'
import { Progress } from './verifications.ts'

/**
 * The request header that selects a scratch copy by its id. The reads that a copy has are then
 * answered from the copy, and all writes are refused.
 */
export const SCRATCH_COPY_HEADER = 'x-scratch-copy'

/**
 * The status of a copy. A `ready` copy can be opened. A copy ends as `failed`, `deleted` (by a
 * user), `expired` (it was kept for its time), `too_large`, or `erased` (it could have contained
 * personal data of a user who was erased).
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
  /** The copy has the events up to this position. Times are in unix seconds. */
  position: Type.Integer(),
  /** The time of the last of these events. */
  as_of: Type.Integer(),
  requested_at: Type.Integer(),
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  /** When the copy is dropped at the latest. */
  expires_at: Type.Integer(),
  /** The size of the tables, or null until they are complete. */
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
          /** The maximum number of copies at once, and how long each is kept. */
          max: Type.Integer(),
          kept_hours: Type.Integer(),
          /** The position of the last event, which is the latest that a copy can have. */
          head: Type.Integer(),
        }),
      ),
    },
  },
}

import Type, { type Static } from 'typebox'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'

const FOREVER = 9_999_999_999
const POSITION_MAX = 999_999_999_999_999

/**
 * The state to copy: as of the event at `position`, or as of `time` in Unix seconds. Events within
 * this second are included. If both are null, the present state is copied.
 */
export const RequestScratchCopy = Type.Object({
  position: Type.Union([Type.Integer({ minimum: 1, maximum: POSITION_MAX }), Type.Null()]),
  time: Type.Union([Type.Integer({ minimum: 1, maximum: FOREVER }), Type.Null()]),
})
export type RequestScratchCopy = Static<typeof RequestScratchCopy>

export const scratchCopyActions = {
  'POST /api/audit/scratch-copies': {
    summary: 'Start to build a copy of the read models as of a position or a time',
    body: RequestScratchCopy,
    response: { 200: Envelope(Type.Object({ id: Type.String() })) },
  },
  'DELETE /api/audit/scratch-copies/:id': {
    summary: 'Delete a scratch copy, or cancel its build',
    params: Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }) }),
    response: { 200: Done },
  },
}

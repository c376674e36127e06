import Type, { type Static } from 'typebox'
import { Envelope } from '#read-api/contract/response-envelope.ts'

/**
 * A request to verify the recorded events. `incremental` checks the events after the last verified
 * position, and `full` checks all events.
 */
export const RequestVerification = Type.Object({
  mode: Type.Optional(Type.Union([Type.Literal('incremental'), Type.Literal('full')])),
})
export type RequestVerification = Static<typeof RequestVerification>

/** `read_models` names the read models to rebuild. An empty list means all of them. */
export const RequestRebuild = Type.Object({
  read_models: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 }),
})
export type RequestRebuild = Static<typeof RequestRebuild>

/**
 * The admin's explanation of why a witness refused to cosign the history. It is shown in the audit
 * log, but is not public.
 */
const AcknowledgeRefusedCosignature = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 1_000 }),
})

const JobId = Envelope(Type.Object({ id: Type.String() }))

const requestVerification = {
  summary: 'Start a verification of the recorded events; returns its id',
  body: RequestVerification,
  response: { 200: JobId },
}

export const verificationActions = {
  'POST /api/audit/verifications': requestVerification,
  'POST /api/audit/verify': requestVerification,
  'POST /api/audit/rebuilds': {
    summary: 'Start to rebuild read models while they are served; returns the id of the rebuild',
    body: RequestRebuild,
    response: { 200: JobId },
  },
  'POST /api/audit/refusals/:id/acknowledge': {
    summary: 'Record that an admin knows why a witness refused to sign the history',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
    body: AcknowledgeRefusedCosignature,
  },
}

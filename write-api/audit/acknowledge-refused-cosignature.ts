import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { verificationActions } from '../contract/audit-jobs.ts'

/**
 * POST /api/audit/refusals/{id}/acknowledge: records that an admin knows why a witness refused to
 * cosign the history. The refusal stays public. Later verifications list the refusal, but do not
 * count it as a finding.
 */
export const acknowledgeRefusedCosignature: Action = (api, deps) => {
  api.route({
    ...endpoint(verificationActions, 'POST /api/audit/refusals/:id/acknowledge'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { actors, vault, now } = deps.core
      const reason = request.body.reason.trim()
      if (reason === '') throw invalidField('reason', { zh: '请填写原因', en: 'must not be empty' })
      const { userId: acknowledgedBy } = principalOf(request)
      const note = await vault.seal(acknowledgedBy, reason)
      const { id } = request.params
      const command = {
        ...({ type: 'AcknowledgeRefusedCosignature', id } as const),
        ...{ note, acknowledgedBy, acknowledgedAt: now() },
      }
      const context = contextOf(deps, request)
      const outcome = await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
      await waitUntilVisible(deps, reply, ['audit-log'], accepted(outcome).position)
      return done()
    },
  })
}

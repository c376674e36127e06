import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { onlyAdmin, onlyAuditor, onlyRoot, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { verificationActions } from '../contract/audit-jobs.ts'

/**
 * POST /api/audit/verifications: requests a verification. A process with the role `projections`
 * runs it.
 */
export const requestVerification: Action = (api, deps) => {
  for (const name of ['POST /api/audit/verifications', 'POST /api/audit/verify'] as const) {
    api.route({
      ...endpoint(verificationActions, name),
      onRequest: onlyAuditor,
      handler: async (request, reply) => {
        const { mode = 'incremental' } = request.body
        const job = jobOf(deps, request)
        return await append(deps, request, reply, { type: 'RequestVerification', ...job, mode })
      },
    })
  }
}

/**
 * POST /api/audit/rebuilds: requests a rebuild of the named read models, or of all if no names are
 * given.
 */
export const requestRebuild: Action = (api, deps) => {
  api.route({
    ...endpoint(verificationActions, 'POST /api/audit/rebuilds'),
    onRequest: onlyRoot,
    handler: async (request, reply) => {
      const { read_models: names } = request.body
      const known: readonly string[] = PROJECTION_NAMES
      const unknownAt = names.findIndex((name) => !known.includes(name))
      if (unknownAt >= 0) {
        const text = { zh: '不是读模型的名称', en: 'is not the name of a read model' }
        throw invalidField(`read_models.${unknownAt}`, text)
      }
      const readModels = names.length === 0 ? known : [...new Set(names)]
      const job = jobOf(deps, request)
      return await append(deps, request, reply, { type: 'RequestRebuild', ...job, readModels })
    },
  })
}

const jobOf = ({ core }: Deps, request: FastifyRequest) => ({
  id: randomUUID(),
  requestedBy: principalOf(request).userId,
  requestedAt: core.now(),
})

async function append(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: AuditJobCommand & { readonly id: string },
) {
  const context = contextOf(deps, request)
  const { actors } = deps.core
  const outcome = await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
  const { position, events } = accepted(outcome)
  reply.header('x-position', String(position))
  return success({ id: events.length > 0 ? command.id : await runningId(deps, command) })
}

/**
 * Returns the id of the job of the same kind that was requested last, which makes the new request
 * unnecessary.
 */
async function runningId(
  { core: { actors } }: Deps,
  command: AuditJobCommand & { readonly id: string },
): Promise<string> {
  const jobs = await actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)
  const all = command.type === 'RequestRebuild' ? jobs.rebuilds : jobs.verifications
  return all.at(-1)?.request.id ?? command.id
}

/**
 * POST /api/audit/refusals/{id}/acknowledge: records that an admin knows why a witness refused to
 * sign. The refusal stays public. Later verifications list it but do not count it as a finding.
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

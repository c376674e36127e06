import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { onlyAuditor, onlyRoot, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { type Action, accepted, contextOf, type Deps } from '../action.ts'
import { verificationActions } from '../contract/audit-jobs.ts'

/**
 * POST /api/audit/verifications and POST /api/audit/verify: requests a verification. A process with
 * the role `projections` runs the verification.
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
 * POST /api/audit/rebuilds: requests a rebuild of the named read models, or of all read models if
 * no names are given.
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
 * Returns the id of the running job of the same kind. It is the job of this kind that was requested
 * last. Called if `command` has added no job, because a job of this kind is already running.
 */
async function runningId(
  { core: { actors } }: Deps,
  command: AuditJobCommand & { readonly id: string },
): Promise<string> {
  const jobs = await actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)
  const all = command.type === 'RequestRebuild' ? jobs.rebuilds : jobs.verifications
  return all.at(-1)?.request.id ?? command.id
}

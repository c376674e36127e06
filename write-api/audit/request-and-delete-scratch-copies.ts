import { randomUUID } from 'node:crypto'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  isActiveCopy,
  SCRATCH_COPIES_MAX,
  SCRATCH_COPIES_OF_AUDITOR_MAX,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { hasDensePositions, positionOfTime } from '#infra/event-store/binary-search-events.ts'
import { onlyAuditor, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { type Action, accepted, contextOf, type Deps } from '../action.ts'
import { type RequestScratchCopy, scratchCopyActions } from '../contract/scratch-copies.ts'

/**
 * POST /api/audit/scratch-copies: requests a scratch copy, which contains the read models as of an
 * earlier time or position. A process with the role `projections` builds the copy. An auditor can
 * have only one copy at a time.
 */
export const requestScratchCopy: Action = (api, deps) => {
  api.route({
    ...endpoint(scratchCopyActions, 'POST /api/audit/scratch-copies'),
    onRequest: onlyAuditor,
    handler: async (request, reply) => {
      const moment = await momentOf(deps, request.body)
      const { userId, role } = principalOf(request)
      const command: AuditJobCommand = {
        ...{ type: 'RequestScratchCopy', id: randomUUID(), ...moment },
        ...{ requestedBy: userId, requestedAt: deps.core.now() },
        ownMax: role < ADMIN ? SCRATCH_COPIES_OF_AUDITOR_MAX : SCRATCH_COPIES_MAX,
      }
      const context = contextOf(deps, request)
      const { actors } = deps.core
      const outcome = await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
      reply.header('x-position', String(accepted(outcome).position))
      return success({ id: command.id })
    },
  })
}

/** Returns the position and the time of the last event up to the requested moment. */
async function momentOf({ core }: Deps, { position, time }: RequestScratchCopy) {
  const { store } = core
  if (position !== null && time !== null) {
    const problem = { zh: '不能与 position 同时使用', en: 'cannot be combined with position' }
    throw invalidField('time', problem)
  }
  const head = await store.headPosition()
  const last = time === null ? (position ?? head) : await positionAt(core, time)
  if (last > head) {
    throw invalidField('position', { zh: `最大为 ${head}`, en: `must be at most ${head}` })
  }
  const event = await store.eventAt(last)
  if (event === null) {
    const problem =
      last < 1
        ? { zh: '该时间之前没有事件', en: 'is before the first event' }
        : { zh: '不是任何事件的位置', en: 'is not the position of an event' }
    throw invalidField(time === null ? 'position' : 'time', problem)
  }
  return { position: last, asOf: event.meta.at }
}

async function positionAt(core: Deps['core'], seconds: number): Promise<number> {
  const lastOfSecond = seconds * 1_000 + 999
  const position = await positionOfTime(core.store, lastOfSecond, hasDensePositions(core))
  if (position !== null) return position
  const problem = {
    zh: 'EventStoreDB 中无法按时间查找，请改用 position',
    en: 'cannot be found in EventStoreDB: use a position instead',
  }
  throw invalidField('time', problem)
}

/**
 * DELETE /api/audit/scratch-copies/{id}: ends a scratch copy, even while it is being built.
 * Auditors can end only copies that they requested.
 */
export const deleteScratchCopy: Action = (api, deps) => {
  api.route({
    ...endpoint(scratchCopyActions, 'DELETE /api/audit/scratch-copies/:id'),
    onRequest: onlyAuditor,
    handler: async (request, reply) => {
      const { id } = request.params
      const { actors, now } = deps.core
      const { userId, role } = principalOf(request)
      const { scratchCopies } = await actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)
      const copy = scratchCopies.find((one) => one.request.id === id && isActiveCopy(one))
      if (copy === undefined) throw httpError('ScratchCopyUnknown')
      if (role < ADMIN && copy.request.requestedBy !== userId) throw httpError('Forbidden')
      const command: AuditJobCommand = {
        ...{ type: 'EndScratchCopies', ids: [id], reason: 'deleted', endedAt: now() },
      }
      const context = contextOf(deps, request)
      const outcome = await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
      reply.header('x-position', String(accepted(outcome).position))
      return done()
    },
  })
}

import type { FastifyRequest } from 'fastify'
import { ADMIN, AUDITOR } from '#domain/shared/user-roles-and-statuses.ts'
import { hasDensePositions } from '#infra/event-store/binary-search-events.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { logRows } from '#projections/logs/query.ts'
import { findOpenCall } from '#projections/open-calls/query.ts'
import { findToken } from '#projections/tokens/query.ts'
import { findUser } from '#projections/users/query.ts'
import { callQueries } from '../contract/calls.ts'
import { findFullRequestId } from '../contract/find-full-request-id.ts'
import { decryptRows } from '../logs/log-response.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import { ChannelHosts } from './channel-hosts-over-time.ts'
import { type CallNames, explainCall } from './explain-call.ts'
import { type CallEvents, findCallEvents } from './find-call-events.ts'

/**
 * `GET /api/audit/calls/:requestId`: all recorded facts about one call that the requester may see,
 * with the computation of the charge.
 */
export function getCall(app: App, deps: ReadDeps): void {
  const { core } = deps
  const hosts = new ChannelHosts(core, deps.hostOfChannel)
  app.route({
    ...endpoint(callQueries, 'GET /api/audit/calls/:requestId'),
    onRequest: onlyUser,
    preHandler: upToDate(
      deps,
      'call-log',
      'open-calls',
      'price-history',
      'users',
      'corrected-calls',
    ),
    handler: async (request) => {
      const { userId, names, events } = await visibleCall(deps, request, request.params.requestId)
      const viewer = { seesAll: seesAllCalls(request), logPath: logPathOf(request, userId) }
      const explanation = await explainCall({ core, hosts }, events, names, viewer)
      if (explanation === null) throw auditError('CallUnknown')
      return success(explanation)
    },
  })
}

/**
 * Reports whether the requester is an admin or auditor, who may see the calls of all users with
 * their channels and costs.
 */
export const seesAllCalls = (request: FastifyRequest): boolean =>
  principalOf(request).role >= AUDITOR

/**
 * Returns the path of a log route that shows the call to the requester, or null if there is none.
 * Admins may read the log of all users. Other users may read the log of their own calls.
 */
function logPathOf(request: FastifyRequest, owner: number): string | null {
  const { role, userId } = principalOf(request)
  if (role >= ADMIN) return '/api/log/'
  return userId === owner ? '/api/log/self/' : null
}

type FoundCall = {
  readonly call: string
  readonly userId: number
  /** The position of the event that ended the call, or null if the call is open. */
  readonly endedAt: number | null
  readonly names: CallNames
}

/**
 * Finds a call that the requester may see, with its events. Throws a 404 if the call does not exist
 * or the requester may not see it.
 */
export async function visibleCall(
  deps: Pick<ReadDeps, 'core'>,
  request: FastifyRequest,
  requestId: string,
): Promise<FoundCall & { readonly events: CallEvents }> {
  const { store } = deps.core
  const found = await findVisibleCall(deps, request, requestId)
  if (found === null) throw auditError('CallUnknown')
  const { userId, call, endedAt } = found
  const isDense = hasDensePositions(deps.core)
  const events = await findCallEvents(store, userId, call, endedAt, isDense)
  if (events === null) throw auditError('CallUnknown')
  return { ...found, events }
}

/**
 * Finds a call like `visibleCall`, but without its events. Returns null if the call does not exist
 * or the requester may not see it.
 */
async function findVisibleCall(
  { core }: Pick<ReadDeps, 'core'>,
  request: FastifyRequest,
  requestId: string,
): Promise<FoundCall | null> {
  const call = findFullRequestId(requestId)
  if (call === null) return null
  const { userId: viewer } = principalOf(request)
  const ofViewer = seesAllCalls(request) ? {} : { userId: viewer }
  const rows = await logRows(core.db, { ...ofViewer, requestId: call }, { offset: 0, limit: 1 })
  const [row] = await decryptRows(core.vault, rows)
  if (row !== undefined) return { call, userId: row.userId, endedAt: row.id, names: row }
  const open = await findOpenCall(core.db, call)
  if (open === null || (open.userId !== viewer && !seesAllCalls(request))) return null
  const { userId, tokenId } = open
  const user = await findUser(core.db, userId)
  const token = await findToken(core.db, tokenId)
  const names = { username: user?.username ?? '', tokenName: token?.name ?? '', address: '' }
  return { call, userId, endedAt: null, names }
}

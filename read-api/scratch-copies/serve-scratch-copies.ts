import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AUDITOR } from '#domain/shared/roles.ts'
import { principalIfAny } from '#infra/http/access-checks.ts'
import { httpError, invalidField } from '#infra/http/http-errors.ts'
import { SCRATCH_COPY_HEADER } from '../contract/scratch-copies.ts'
import type { ReadDeps } from '../read-route-helpers.ts'
import { OpenCopies } from './opened-scratch-copies.ts'
import {
  type CopyHandler,
  LIVE_ROUTES,
  scratchCopyHandlers,
} from './scratch-copy-route-handlers.ts'

/**
 * If a read request has the header `X-Scratch-Copy`, the response is read from the scratch copy
 * with the id in this header. The access checks and the validation of the live route run first,
 * with the caller's current role. Call this function before the routes are registered.
 */
export function serveScratchCopies(app: FastifyInstance, deps: ReadDeps): void {
  const names = scratchCopyHandlers(deps)
  app.addHook('onRoute', (route) => {
    const name = `GET ${route.url}`
    const isRead = route.method === 'GET' || route.method === 'HEAD'
    if (!isRead || !(names.has(name) || LIVE_ROUTES.has(name))) return
    route.config = { ...route.config, scratchCopy: names.has(name) ? 'copy' : 'live' }
  })
  const copies = new OpenCopies(deps)
  app.addHook('onClose', () => copies.closeAll())
  app.addHook('preHandler', async (request, reply) => {
    const id = copyIdOf(request)
    if (id === null || request.routeOptions.config.scratchCopy !== 'copy') return
    await requireAuditor(request)
    const handlers = await copies.handlersOf(id)
    const handler = handlers.get(`GET ${request.routeOptions.url}`) as CopyHandler
    const payload = await handler(request as never, reply as never)
    return reply.sent || payload === reply ? reply : reply.send(payload)
  })
}

const COPY_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function copyIdOf({ headers }: FastifyRequest): string | null {
  const id = headers[SCRATCH_COPY_HEADER]
  if (id === undefined) return null
  if (typeof id === 'string' && COPY_ID.test(id)) return id
  throw invalidField('X-Scratch-Copy', { zh: '必须是副本的编号', en: 'must be the id of a copy' })
}

/**
 * Throws an error unless the caller is an auditor or admin. Routes that need no login have not
 * checked the caller before.
 */
async function requireAuditor(request: FastifyRequest): Promise<void> {
  const principal = request.principal ?? (await principalIfAny(request))
  if (principal === null) throw httpError('NotLoggedIn')
  if (principal.role < AUDITOR) throw httpError('Forbidden')
}

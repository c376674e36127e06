import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/**
 * The write routes that stay open on a demo site. Visitors must be able to set up, log in and log
 * out. Payment notifications must credit money that was paid. A price request changes nothing.
 */
const OPEN =
  /^\/api\/(setup|user\/(login|logout)(\/.*)?|user\/(amount|epay\/notify)|stripe\/webhook)$/

/**
 * Rejects all writes on a demo site, except by the super admin, who must be able to end the demo
 * mode.
 */
export function rejectWritesOnDemoSite(app: FastifyInstance, { db }: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

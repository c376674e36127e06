import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/**
 * Write routes that are allowed on a demo site. Visitors must be able to set up the site, log in
 * and log out. Payment notifications report money that was already paid. A request for a price
 * changes nothing.
 */
const OPEN =
  /^\/api\/(setup|user\/(login|logout)(\/.*)?|user\/(amount|epay\/notify)|stripe\/webhook)$/

/** Rejects writes of everyone except the super admin, who must be able to end the demo mode. */
export function rejectWritesOnDemoSite(app: FastifyInstance, { db }: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

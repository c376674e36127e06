import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/** These routes stay open because they only read: channel types and the progress of a test run. */
const OPEN = /^\/api\/channel\/(types|test\/progress)$/

/**
 * Refuses requests to providers on a demo site, except from the super admin, as the write API does
 * with its actions.
 */
export function refuseInDemo(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

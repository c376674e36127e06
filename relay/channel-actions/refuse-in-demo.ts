import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/** These routes are allowed on a demo site because they send no request to a provider. */
const OPEN = /^\/api\/channel\/(types|test\/progress)$/

/** Refuses requests to providers on a demo site. The super admin is exempt, as in the write API. */
export function refuseInDemo(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

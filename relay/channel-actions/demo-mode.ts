import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/** What only tells: types, and how far a run of tests has come. */
const OPEN = /^\/api\/channel\/(types|test\/progress)$/

/** On a demo site providers are asked nothing, but for the super admin: as the write API's acts. */
export function refuseInDemo(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/**
 * The first run, the password and going out stay open: who can't come in sees nothing. And what was
 * paid before is credited: money has changed hands. What an order would cost is only asked.
 */
const OPEN =
  /^\/api\/(setup|user\/(login|logout)(\/.*)?|user\/(amount|epay\/notify)|stripe\/webhook)$/

/** On a demo site nothing is changed by anybody but the super admin, who can end the mode. */
export function refuseInDemo(app: FastifyInstance, { db }: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

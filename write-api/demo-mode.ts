import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/roles.ts'
import type { Core } from '#infra/core.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isDemoSite } from '#projections/options/query.ts'

/**
 * These routes stay open on a demo site: setup, login and logout, because a visitor who cannot
 * sign in sees nothing; payment notifications, because money that changed hands must be credited;
 * and the price of an order, because asking for it changes nothing.
 */
const OPEN =
  /^\/api\/(setup|user\/(login|logout)(\/.*)?|user\/(amount|epay\/notify)|stripe\/webhook)$/

/**
 * Rejects every write on a demo site, unless the super admin makes it: only that user can end the
 * mode.
 */
export function rejectWritesOnDemoSite(app: FastifyInstance, { db }: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

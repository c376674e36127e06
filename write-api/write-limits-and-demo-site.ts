import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ADMIN, SUPER_ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull, type Permit, type RateClaim } from '#infra/limits/port.ts'
import { isDemoSite } from '#projections/options/query.ts'

/** The maximum number of writing requests per user and minute. */
const MINUTE_MAX = 120
const DAY_MAX = 1_000
/** The number of objects in a batch that count as one request. */
const OBJECTS_PER_CALL = 10
const OBJECTS_MAX = 100

/**
 * Limits the writes of normal users and auditors, because events are stored permanently. A user can
 * make 120 writing requests per minute and 1 000 per day. Ten objects of a batch count as one
 * request, but a batch counts as at most ten requests. Requests that write nothing do not count.
 * Admins are not limited, because they run scripts for the whole site.
 */
export function limitWrites(app: FastifyInstance, { limits }: Pick<Core, 'limits'>): void {
  const permits = new WeakMap<FastifyRequest, Permit>()
  app.addHook('preHandler', async (request) => {
    const { principal, body } = request
    if (principal === null || principal.role >= ADMIN) return
    const owner = `user:${principal.userId}`
    const rate = { kind: 'rate', isRefundable: true } as const
    const budget: readonly RateClaim[] = [
      { ...rate, key: `writes-minute:${owner}`, max: MINUTE_MAX, periodMs: 60_000 },
      { ...rate, key: `writes-day:${owner}`, max: DAY_MAX, periodMs: 86_400_000 },
    ]
    const claims = Array.from({ length: costOf(body) }, () => budget).flat()
    const outcome = await limits.enter(owner, claims)
    if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
    permits.set(request, outcome)
  })
  app.addHook('onSend', async (request, reply) => {
    // An action that has written an event sets the header `X-Position`. If the response lacks this
    // header, the request does not count.
    const isRefunded = !reply.hasHeader('x-position')
    permits.get(request)?.release({ isRefunded })
  })
}

/**
 * Returns the number of writes that a request counts as. The number of objects in a batch is the
 * length of `ids`, or `count`.
 */
function costOf(body: FastifyRequest['body']): number {
  const { ids, count } = (body ?? {}) as { readonly ids?: unknown; readonly count?: unknown }
  const objects = Array.isArray(ids) ? ids.length : typeof count === 'number' ? count : 1
  return Math.max(1, Math.ceil(Math.min(objects, OBJECTS_MAX) / OBJECTS_PER_CALL))
}

/**
 * The write routes that everyone may use on a demo site. Visitors must be able to set up the site,
 * log in and log out. Payment notifications are accepted, because they report money that is already
 * paid. A price request changes nothing.
 */
const OPEN =
  /^\/api\/(setup|user\/(login|logout)(\/.*)?|user\/(amount|epay\/notify)|stripe\/webhook)$/

/**
 * Rejects writes on a demo site. The super admin may still write, in order to end the demo mode.
 */
export function rejectWritesOnDemoSite(app: FastifyInstance, { db }: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

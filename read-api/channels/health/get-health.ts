import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { HealthSnapshot } from '../../contract/channel-health.ts'
import { Envelope } from '../../contract/envelope.ts'
import { type App, type ReadDeps, upToDate } from '../../question.ts'

/** `GET /api/channel/health`, for admins: how every channel does, just now. */
export function getHealth(app: App, deps: ReadDeps): void {
  app.get(
    '/api/channel/health',
    {
      schema: {
        summary: 'How every channel does: circuits, success, latency, speed, calls in flight',
        response: { 200: Envelope(HealthSnapshot) },
      },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels', 'channel-health', 'channel-stats'),
    },
    async () => success(await deps.health.snapshot()),
  )
}

import { exportFiles } from '#infra/audit-program/generate-export-files.ts'
import { exportSource } from '#infra/audit-program/open-sealed-log.ts'
import { TAR_END, tarFile } from '#infra/audit-program/write-tar-archive.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { isStillAdmitted, onlyAuditor, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { verificationQueries } from '../contract/verifications.ts'
import { createPermits, sendExport } from '../logs/export-permits-and-streaming.ts'
import {
  type App,
  expectOrdered,
  integerOf,
  type ReadDeps,
} from '../read-dependencies-and-query-parameters.ts'
import { recordExport } from './record-export.ts'

/**
 * The maximum numbers of concurrent exports. The numbers are low, because each export reads the
 * whole history.
 */
const PERMIT_LIMITS = { all: 2, each: 1 }
const READ_LIMITS = { stallMs: 60_000, totalMs: 6 * 60 * 60_000 }
const RETRY_SECONDS = 5

/**
 * `GET /api/audit/export`: a tar archive of the recorded events, with proofs and a verifier. Files
 * are sent as they are read. The parameter `from` continues an export that was interrupted.
 */
export function exportEvents(app: App, deps: ReadDeps): void {
  const permits = createPermits(PERMIT_LIMITS, deps.longResponses ?? { inFlight: 0 })
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/export'),
    // NOTE: `exposeHeadRoute` is false, because a HEAD request would read all events. `compress` is
    // false, because the files are already compressed.
    ...{ exposeHeadRoute: false, compress: false },
    onRequest: onlyAuditor,
    handler: async (request, reply) => {
      if (deps.draining.aborted) throw httpError('Draining', {}, RETRY_SECONDS)
      const from = Math.max(1, integerOf(request.query.from) ?? 1)
      const to = integerOf(request.query.to)
      expectOrdered(from, to)
      const range = {
        from,
        ...(to === undefined ? {} : { to }),
        exportedAt: new Date(deps.core.now()),
      }
      const release = permits(principalOf(request).userId, true)
      const { query } = request
      const exported = { exported: 'events', userId: null, format: 'tar', query } as const
      await recordExport(deps, request, exported, release)
      const archive = tarOf(deps.core, range, () => isStillAdmitted(request))
      const file = { name: `audit-from-${from}.tar`, type: 'application/x-tar' }
      return sendExport(reply, archive, { ...file, release, limits: READ_LIMITS })
    },
  })
}

type Range = { readonly from: number; readonly to?: number; readonly exportedAt: Date }

async function* tarOf(
  core: Core,
  range: Range,
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  const seconds = Math.floor(range.exportedAt.getTime() / 1_000)
  for await (const { name, bytes } of exportFiles(exportSource(core), range)) {
    // An export can take hours. During this time, the user may lose the right to read the events.
    if (!(await isAllowed())) throw new Error('the user may no longer read the export')
    if (bytes !== null) yield* tarFile(name, bytes, seconds)
  }
  yield TAR_END
}

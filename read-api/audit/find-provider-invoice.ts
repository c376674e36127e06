import type { FastifyRequest } from 'fastify'
import { providerInvoicesDecider } from '#domain/provider-invoices/decide.ts'
import { PROVIDER_INVOICES_STREAM, type ProviderInvoice } from '#domain/provider-invoices/events.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import { afterPosition, waitsForPosition } from '#infra/http/after-position-header.ts'
import type { ReadModelName } from '#projections/read-model-freshness/query.ts'
import { countLines } from '#projections/reconciliation/query.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import type { MatchedInvoices } from './matched-invoice-cache.ts'

const WAIT_MAX_MS = 2_000
const RETRY_SECONDS = 2

/**
 * Returns a `preHandler` that waits until the read models of a comparison have reached the position
 * in `X-After-Position`. Throws a 503 after two seconds, because a comparison that lacks lines or
 * calls would look complete.
 */
export const waitForComparison = (deps: ReadDeps, ...names: readonly ReadModelName[]) =>
  waitsForPosition(async (request: FastifyRequest): Promise<void> => {
    const position = afterPosition(request)
    if (position !== null) await waitFor(deps, names, position)
  })

/**
 * Returns the invoice with this id as soon as the read model has all of its lines, even if another
 * process imported the invoice. Throws a 404 if there is no such invoice, and a 503 if lines are
 * still missing after two seconds.
 */
export async function findProviderInvoice(
  deps: ReadDeps,
  { complete }: MatchedInvoices,
  id: string,
): Promise<ProviderInvoice> {
  const { actors, db, store } = deps.core
  const invoice = (await importedInvoices(actors)).find(({ invoiceId }) => invoiceId === id)
  if (invoice === undefined) throw auditError('ObjectUnknown')
  const { requests = 0 } = invoice
  if (requests === 0 || complete.has(id)) return invoice
  if ((await countLines(db, [id])) < requests) {
    await waitFor(deps, ['reconciliation'], await store.headPosition())
  }
  complete.add(id)
  return invoice
}

/**
 * Returns the invoices that are not deleted, oldest first. Only the list is copied. The invoices
 * themselves are data of events and never change, and copying all of their lines would block the
 * event loop.
 */
export const importedInvoices = (actors: StreamActors): Promise<readonly ProviderInvoice[]> =>
  actors.ask(providerInvoicesDecider, PROVIDER_INVOICES_STREAM, ({ invoices }) => [...invoices])

async function waitFor(
  { freshness }: ReadDeps,
  names: readonly ReadModelName[],
  position: number,
): Promise<void> {
  const isFresh = await freshness.waitFor(names, position, WAIT_MAX_MS)
  if (!isFresh) throw auditError('ReconciliationBehind', {}, RETRY_SECONDS)
}

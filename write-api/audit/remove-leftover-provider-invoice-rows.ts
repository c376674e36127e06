import { setTimeout as delay } from 'node:timers/promises'
import {
  providerInvoiceRequestsDecider,
  providerInvoicesDecider,
} from '#domain/provider-invoices/decide.ts'
import {
  PROVIDER_INVOICES_STREAM,
  providerInvoiceRequestsStream,
} from '#domain/provider-invoices/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { providerInvoiceIdsWithLines } from '#projections/reconciliation/query.ts'
import { accepted, type Deps } from '../action.ts'

/**
 * The number of parts after which an import or a removal waits for the read model. If they did not
 * wait, the read model would fold too many events at once.
 */
export const PARTS_AHEAD = 20
const BEHIND_MAX_MS = 30_000
const CHECK_INTERVAL_MS = 10 * 60_000
/**
 * An import that has recorded nothing for this time in milliseconds counts as failed. A running
 * import records the next part after `BEHIND_MAX_MS` at the latest.
 */
const ABANDONED_MS = 60 * 60_000

type RemovalDeps = Pick<Deps, 'core' | 'freshness'>

/**
 * Removes the rows of an invoice that was deleted or whose import has failed. Does nothing if the
 * invoice exists. If the removal fails, the error is logged, and `startProviderInvoiceRemovals`
 * removes the remaining rows later.
 */
export async function removeIfUnknown(
  deps: RemovalDeps,
  invoiceId: string,
  context: CommandContext,
): Promise<void> {
  const { actors, log } = deps.core
  try {
    const { invoices } = await actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM)
    if (invoices.some((one) => one.invoiceId === invoiceId)) return
    await removeRows(deps, invoiceId, context)
  } catch (error) {
    warnThrottled(log, { reason: reasonOf(error) }, 'rows of an invoice will be removed later')
  }
}

async function removeRows(
  { core: { actors }, freshness }: RemovalDeps,
  invoiceId: string,
  context: CommandContext,
): Promise<void> {
  const steps: AnyStep[] = [
    {
      decider: providerInvoicesDecider,
      stream: PROVIDER_INVOICES_STREAM,
      command: { type: 'MustNotExist', invoiceId },
    },
    {
      decider: providerInvoiceRequestsDecider,
      stream: providerInvoiceRequestsStream(invoiceId),
      command: { type: 'DeleteInvoiceRequests', invoiceId, max: PARTS_AHEAD },
    },
  ]
  for (;;) {
    const outcome = await actors.handleTogether(steps, context)
    // The import ended just before the removal, so the rows now belong to an existing invoice.
    if (!outcome.isDone && outcome.error.code === 'InvoiceKnown') return
    const { events, position } = accepted(outcome)
    if (events.length < PARTS_AHEAD) return
    const isFresh = await freshness.waitFor(['reconciliation'], position, BEHIND_MAX_MS)
    if (!isFresh) throw new Error('the read model of invoices is behind')
  }
}

/**
 * Removes the rows of invoices that do not exist, for example because the process died during an
 * import or a removal. Rows of an import that recorded a part within the last hour are kept.
 */
export async function removeAbandonedRows(deps: RemovalDeps): Promise<void> {
  const { actors, db, store, now } = deps.core
  const ids = await providerInvoiceIdsWithLines(db)
  const { invoices } = await actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM)
  const existing = new Set(invoices.map(({ invoiceId }) => invoiceId))
  for (const invoiceId of ids) {
    if (existing.has(invoiceId)) continue
    const stream = providerInvoiceRequestsStream(invoiceId)
    const { parts, deleted } = await actors.peek(providerInvoiceRequestsDecider, stream)
    const [last] = await store.readStream(stream, parts + deleted - 1, 1)
    if (last === undefined) continue
    // If rows were already deleted, no import of this invoice can succeed, whatever its age.
    if (deleted === 0 && last.meta.at > now() - ABANDONED_MS) continue
    await removeIfUnknown(deps, invoiceId, { actor: 'system:invoices', cause: null, at: now() })
  }
}

/**
 * Starts the background job that removes the rows of invoices that do not exist. A lease ensures
 * that only one process runs this job.
 */
export const startProviderInvoiceRemovals = (deps: RemovalDeps): HeldLease =>
  deps.core.leases.hold('invoice-removals', async (_lease, lost) => {
    const { log } = deps.core
    while (!lost.aborted) {
      await removeAbandonedRows(deps).catch((error: unknown) => {
        warnThrottled(log, { reason: reasonOf(error) }, 'rows of invoices will be removed later')
      })
      await delay(CHECK_INTERVAL_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })

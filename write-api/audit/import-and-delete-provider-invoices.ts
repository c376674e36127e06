import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import { decimalsFor, isInRange } from '#domain/provider-invoices/amounts.ts'
import {
  otherProviderInvoiceIds,
  providerInvoiceRequestsDecider,
  providerInvoicesDecider,
} from '#domain/provider-invoices/decide.ts'
import {
  DECIMALS,
  PROVIDER_INVOICES_STREAM,
  type ProviderInvoice,
  type ProviderInvoiceRequest,
  providerInvoiceRequestsStream,
} from '#domain/provider-invoices/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { findChannel } from '#projections/channels/query.ts'
import { countKnownIds, countLines } from '#projections/reconciliation/query.ts'
import {
  type Action,
  type Api,
  accepted,
  contextOf,
  type Deps,
  waitUntilVisible,
} from '../action.ts'
import {
  type ImportProviderInvoice,
  providerInvoiceActions,
} from '../contract/provider-invoices.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { providerInvoiceError } from './audit-errors.ts'
import { checkPeriod, periodIn } from './provider-invoice-period.ts'
import type { ProviderInvoiceFormat } from './read-provider-invoice-row.ts'
import { PARTS_AHEAD, removeIfUnknown } from './remove-leftover-provider-invoice-rows.ts'
import { type ProviderInvoiceSums, sumProviderInvoice } from './sum-provider-invoice.ts'

const RETRY_SECONDS = 30

/**
 * The maximum pause between two chunks of an upload, in milliseconds. After a longer pause, the
 * upload is refused, so that it does not block other imports.
 */
const IDLE_MAX_MS = 10_000

/**
 * POST /api/audit/invoices: imports a provider's invoice for a channel. The file is read as a
 * stream. Each process imports one file at a time, from the first byte to the last event, because
 * the rows of a file take memory until they are recorded. While a file is imported, other files are
 * refused.
 */
export const importProviderInvoice: Action = (api, deps) => {
  let isImporting = false
  async function importAlone<T>(work: () => Promise<T>): Promise<T> {
    if (isImporting) throw providerInvoiceError('TooManyImports', {}, RETRY_SECONDS)
    isImporting = true
    return await work().finally(() => {
      isImporting = false
    })
  }
  void api.register(async (scope) => {
    scope.addContentTypeParser('text/csv', (_request, payload, parsed) => parsed(null, payload))
    const route = scope as unknown as Api
    route.route({
      ...endpoint(providerInvoiceActions, 'POST /api/audit/invoices'),
      onRequest: onlyAdmin,
      handler: async (request, reply) => {
        const { query, body } = request
        const rate = rateOf(query)
        const format = formatOf(query, rate)
        const channelId = Number(query.channel_id)
        // A refused file is not read to its end, so the connection can't be used for another
        // request.
        reply.header('connection', 'close')
        if (!(await hasExisted(deps, channelId))) {
          throw invalidField('channel_id', { zh: '该渠道不存在', en: 'there is no such channel' })
        }
        if (!(body instanceof Readable)) throw providerInvoiceError('InvoiceEmpty')
        const period = periodIn(query)
        const terms = { channelId, ...rate, ...(period === undefined ? {} : { period }) }
        const context = contextOf(deps, request)
        const { position, ...imported } = await importAlone(async () => {
          const read = await readFile(chunksOf(body), format, deps.core.now())
          return await importFile(deps, read, terms, context)
        })
        await waitUntilVisible(deps, reply, ['reconciliation'], position)
        return success({ ...imported, known_ids: await knownIds(deps, imported.id, channelId) })
      },
    })
  })
}

/**
 * Returns the currency of an invoice and the price of its unit in dollars. Throws if this price is
 * 0, or if it is omitted and the currency is not US dollars.
 */
function rateOf({ currency = 'USD', dollars }: ImportProviderInvoice) {
  if (dollars === undefined && currency !== 'USD') {
    throw invalidField('dollars', {
      zh: `货币为 ${currency} 时必填`,
      en: `is required for ${currency}`,
    })
  }
  if (dollars !== undefined && parseDecimal(dollars)?.units === 0n) {
    throw invalidField('dollars', { zh: '必须大于 0', en: 'must be above 0' })
  }
  const price = dollars ?? '1'
  const decimals = decimalsFor(price)
  return { currency, dollars: price, ...(decimals === undefined ? {} : { decimals }) }
}

/**
 * Reports whether a channel with this id exists or existed. Deleted channels count, because their
 * invoices may arrive after the deletion. Only the read model contains deleted channels.
 */
async function hasExisted({ core }: Deps, channelId: number): Promise<boolean> {
  const { actors, db } = core
  const exists = await actors.ask(channelsDecider, CHANNELS_STREAM, ({ channels }) =>
    channels.has(channelId),
  )
  return exists || (await findChannel(db, channelId)) !== null
}

type ProviderInvoiceTerms = Pick<
  ProviderInvoice,
  'channelId' | 'currency' | 'dollars' | 'decimals' | 'period'
>

/**
 * Counts the request ids of a new invoice that other invoices of the channel contain as well.
 * Returns null if the read model does not have all rows of the new invoice yet.
 */
async function knownIds({ core: { actors, db } }: Deps, invoiceId: string, channelId: number) {
  const state = await actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM)
  const requests = state.invoices.find((one) => one.invoiceId === invoiceId)?.requests ?? 0
  if (requests === 0) return 0
  if ((await countLines(db, [invoiceId])) < requests) return null
  return await countKnownIds(
    db,
    invoiceId,
    otherProviderInvoiceIds(state, { invoiceId, channelId }),
  )
}

/**
 * Yields the chunks of an upload. Throws an HTTP error 408 if no chunk arrives for `IDLE_MAX_MS`.
 */
async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  const chunks = body.iterator({ destroyOnReturn: false })
  try {
    for (;;) {
      const idle = Promise.withResolvers<never>()
      const timer = setTimeout(
        () => idle.reject(providerInvoiceError('InvoiceStalled')),
        IDLE_MAX_MS,
      )
      const next = chunks.next()
      const { done, value } = await Promise.race([next, idle.promise]).finally(() =>
        clearTimeout(timer),
      )
      if (done === true) return
      yield value
    }
  } finally {
    // A read that is still pending fails when the connection is closed. This error is ignored.
    chunks.return?.().catch(() => {})
  }
}

type ReadFile = { readonly sums: ProviderInvoiceSums; readonly parts: RequestParts }

async function readFile(
  file: AsyncIterable<Uint8Array>,
  format: ProviderInvoiceFormat,
  now: number,
): Promise<ReadFile> {
  const parts = new RequestParts()
  return { sums: await sumProviderInvoice(file, format, now, (one) => parts.add(one)), parts }
}

/**
 * Appends the events of a file: first the events with the rows that have request ids, then the
 * event of the import.
 */
async function importFile(
  deps: Deps,
  { sums, parts }: ReadFile,
  terms: ProviderInvoiceTerms,
  context: CommandContext,
) {
  const { actors, now } = deps.core
  const invoiceId = randomUUID()
  if (!isInRange({ ...terms, ...sums })) {
    throw invalidField('dollars', {
      zh: '折合美元后的金额过大，请检查汇率是否填反',
      en: 'makes the amounts too large. Check that the exchange rate is not inverted',
    })
  }
  checkPeriod(terms.period, sums.lines)
  const ids = { type: 'ImportInvoice', invoiceId } as const
  const command = { ...ids, ...terms, ...sums, importedAt: now() }
  // The command is decided before anything is appended, so that a refused file leaves no events
  // behind.
  const decided = providerInvoicesDecider.decide(
    command,
    await actors.peek(providerInvoicesDecider, PROVIDER_INVOICES_STREAM),
  )
  if ('code' in decided) throw toHttpError(decided)
  const append = async () => {
    const count = await recordRequests(deps, invoiceId, parts, context)
    const steps: AnyStep[] = [
      { decider: providerInvoicesDecider, stream: PROVIDER_INVOICES_STREAM, command },
    ]
    if (count > 0) steps.push(requestsMustBeComplete(invoiceId, count))
    return accepted(await actors.handleTogether(steps, context))
  }
  const { position } = await append().catch((error: unknown) => {
    void removeIfUnknown(deps, invoiceId, context)
    throw error
  })
  const { rows, duplicates, lines } = sums
  return { position, id: invoiceId, rows, duplicates, lines: lines.length }
}

const BEHIND_MAX_MS = 30_000

/**
 * Returns a step that appends no events. The step refuses the import if another request or the
 * background job has removed rows of the invoice. Without this step, an import that was paused for
 * an hour would end as an invoice without its rows.
 */
const requestsMustBeComplete = (invoiceId: string, parts: number): AnyStep => ({
  decider: providerInvoiceRequestsDecider,
  stream: providerInvoiceRequestsStream(invoiceId),
  command: { type: 'MustBeComplete', invoiceId, parts },
})

/**
 * Appends the rows that have request ids, and returns the number of parts. Waits so that the read
 * model stays at most `PARTS_AHEAD` parts behind. The read model folds all new events at once, and
 * more parts would take too much memory and block the event loop.
 */
async function recordRequests(
  { core: { actors }, freshness }: Deps,
  invoiceId: string,
  parts: RequestParts,
  context: CommandContext,
): Promise<number> {
  const stream = providerInvoiceRequestsStream(invoiceId)
  let count = 0
  for (const some of parts.list(PARTS_AHEAD)) {
    // Commands to the same stream that wait at the same time are written in one append.
    const outcomes = await Promise.all(
      some.map((requests, index) => {
        const part = count + index
        const record = { type: 'RecordInvoiceRequests', invoiceId, part, requests } as const
        return actors.handle(providerInvoiceRequestsDecider, stream, record, context)
      }),
    )
    count += some.length
    const position = Math.max(...outcomes.map((outcome) => accepted(outcome).position))
    if (some.length < PARTS_AHEAD) continue
    const isFresh = await freshness.waitFor(['reconciliation'], position, BEHIND_MAX_MS)
    if (!isFresh) throw providerInvoiceError('ReadModelBehind', {}, RETRY_SECONDS)
  }
  return count
}

/**
 * The maximum number of rows in one event. An event with this number of rows has about 10 kB.
 * Readers of all events read up to 2 500 events at once, so larger events would exhaust the memory
 * of these readers.
 */
const PART_ROWS = 100

/**
 * Keeps rows until the whole file has been read. The rows are stored as JSON text in buffers, which
 * are not part of the JavaScript heap.
 */
class RequestParts {
  private readonly texts: Buffer[] = []
  private rows: ProviderInvoiceRequest[] = []

  add(row: ProviderInvoiceRequest): void {
    this.rows.push(row)
    if (this.rows.length === PART_ROWS) this.close()
  }

  /** Yields the parts in groups of `size` parts. The last group may be smaller. */
  *list(size: number): Generator<readonly (readonly ProviderInvoiceRequest[])[]> {
    if (this.rows.length > 0) this.close()
    for (let at = 0; at < this.texts.length; at += size) {
      yield this.texts.slice(at, at + size).map((text) => JSON.parse(text.toString()))
    }
  }

  private close(): void {
    this.texts.push(Buffer.from(JSON.stringify(this.rows)))
    this.rows = []
  }
}

function formatOf(
  query: ImportProviderInvoice,
  { currency, decimals = DECIMALS }: Pick<ProviderInvoice, 'currency' | 'decimals'>,
): ProviderInvoiceFormat {
  const { day, model, amount, tokens = null, request_id: requestId = null } = query
  const { delimiter = ',', decimal = '.' } = query
  const columns = { day, model, amount, tokens, requestId }
  const models = modelsOf(query.models)
  return { ...columns, delimiter, decimal: decimal as '.' | ',', currency, decimals, models }
}

const NAMES_MAX = 1_000

function modelsOf(text = '{}'): ReadonlyMap<string, string> {
  const entries = entriesOf(text)
  const isValid = entries?.every(([, name]) => typeof name === 'string' && name !== '') ?? false
  if (entries === null || !isValid || entries.length > NAMES_MAX) {
    throw invalidField('models', {
      zh: '应为「服务商模型名 → 本站模型名」的 JSON 对象',
      en: 'must be a JSON object with names of models',
    })
  }
  return new Map(entries as [string, string][])
}

function entriesOf(text: string): [string, unknown][] | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return Object.entries(value)
  } catch {
    return null
  }
}

/**
 * DELETE /api/audit/invoices/{id}: deletes an imported invoice. The rows of the invoice are removed
 * from the read model in the background. The events that recorded the import stay in the history.
 */
export const deleteProviderInvoice: Action = (api, deps) => {
  api.route({
    ...endpoint(providerInvoiceActions, 'DELETE /api/audit/invoices/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const command = { type: 'DeleteInvoice', invoiceId: request.params.id } as const
      const context = contextOf(deps, request)
      const { actors } = deps.core
      const { position } = accepted(
        await actors.handle(providerInvoicesDecider, PROVIDER_INVOICES_STREAM, command, context),
      )
      void removeIfUnknown(deps, request.params.id, context)
      await waitUntilVisible(deps, reply, ['reconciliation'], position)
      return done()
    },
  })
}

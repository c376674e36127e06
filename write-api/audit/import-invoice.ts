import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import {
  INVOICES_STREAM,
  type Invoice,
  type InvoiceRequest,
  invoiceRequestsDecider,
  invoiceRequestsStream,
  invoicesDecider,
} from '#domain/invoices/events.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { findChannel } from '#projections/channels/query.ts'
import {
  type Action,
  type Api,
  accepted,
  contextOf,
  type Deps,
  waitUntilVisible,
} from '../action.ts'
import { type ImportInvoice, invoiceActions } from '../contract/invoices.ts'
import { toHttpError } from '../error-catalogue.ts'
import { invoiceError } from './invoice-errors.ts'
import { type InvoiceFormat, sumInvoice } from './sum-invoice.ts'

/**
 * POST /api/audit/invoices: imports a provider's invoice for a channel. The file is read as a
 * stream. Each process imports one file at a time.
 */
export const importInvoice: Action = (api, deps) => {
  void api.register(async (scope) => {
    scope.addContentTypeParser('text/csv', (_request, payload, parsed) => parsed(null, payload))
    const route = scope as unknown as Api
    route.route({
      ...endpoint(invoiceActions, 'POST /api/audit/invoices'),
      onRequest: onlyAdmin,
      handler: async (request, reply) => {
        const { query, body } = request
        const format = formatOf(query)
        const { currency = 'USD', dollars = '1' } = query
        if (parseDecimal(dollars)?.units === 0n) {
          throw invalidField('dollars', { zh: '必须大于 0', en: 'must be above 0' })
        }
        const channelId = Number(query.channel_id)
        // A file that is refused is not read to its end, so the connection cannot be used again.
        reply.header('connection', 'close')
        if (!(await hasExisted(deps, channelId))) {
          throw invalidField('channel_id', { zh: '该渠道不存在', en: 'there is no such channel' })
        }
        if (!(body instanceof Readable)) throw invoiceError('InvoiceEmpty')
        const file = body.iterator({ destroyOnReturn: false })
        const terms = { channelId, currency, dollars }
        const context = contextOf(deps, request)
        const { position, ...imported } = await deps.runExclusive('invoice-import', () =>
          importFile(deps, file, format, terms, context),
        )
        await waitUntilVisible(deps, reply, ['reconciliation'], position)
        return success(imported)
      },
    })
  })
}

/**
 * Returns whether a channel with this id exists or existed. Deleted channels count, because their
 * invoices may arrive after the deletion. Only the read model contains them.
 */
async function hasExisted({ core }: Deps, channelId: number): Promise<boolean> {
  const { actors, db } = core
  const exists = await actors.ask(channelsDecider, CHANNELS_STREAM, ({ channels }) =>
    channels.has(channelId),
  )
  return exists || (await findChannel(db, channelId)) !== null
}

type InvoiceTerms = Pick<Invoice, 'channelId' | 'currency' | 'dollars'>

/** Reads the file and records it: first its rows with ids, and then the import itself. */
async function importFile(
  { core: { actors, now } }: Deps,
  file: AsyncIterable<Uint8Array>,
  format: InvoiceFormat,
  terms: InvoiceTerms,
  context: CommandContext,
) {
  const invoiceId = randomUUID()
  const parts = new RequestParts()
  const sums = await sumInvoice(file, format, (one) => parts.add(one))
  const ids = { type: 'ImportInvoice', invoiceId } as const
  const command = { ...ids, ...terms, ...sums, importedAt: now() }
  // A file that is refused leaves nothing behind.
  const decided = invoicesDecider.decide(
    command,
    await actors.peek(invoicesDecider, INVOICES_STREAM),
  )
  if ('code' in decided) throw toHttpError(decided)
  const stream = invoiceRequestsStream(invoiceId)
  let part = 0
  for (const requests of parts.list()) {
    const record = { type: 'RecordInvoiceRequests', invoiceId, part, requests } as const
    accepted(await actors.handle(invoiceRequestsDecider, stream, record, context))
    part += 1
  }
  const { position } = accepted(
    await actors.handle(invoicesDecider, INVOICES_STREAM, command, context),
  )
  const { rows, duplicates, lines } = sums
  return { position, id: invoiceId, rows, duplicates, lines: lines.length }
}

/** The maximum number of rows in one event. */
const PART_ROWS = 1_000

/**
 * Keeps rows until the whole file has been read. They are stored as JSON text in buffers, which are
 * not part of the JavaScript heap.
 */
class RequestParts {
  private readonly texts: Buffer[] = []
  private rows: InvoiceRequest[] = []

  add(row: InvoiceRequest): void {
    this.rows.push(row)
    if (this.rows.length === PART_ROWS) this.close()
  }

  *list(): Generator<readonly InvoiceRequest[]> {
    if (this.rows.length > 0) this.close()
    for (const text of this.texts) yield JSON.parse(text.toString())
  }

  private close(): void {
    this.texts.push(Buffer.from(JSON.stringify(this.rows)))
    this.rows = []
  }
}

function formatOf(query: ImportInvoice): InvoiceFormat {
  const { day, model, amount, tokens = null, request_id: requestId = null } = query
  const { delimiter = ',', decimal = '.' } = query
  const columns = { day, model, amount, tokens, requestId }
  return { ...columns, delimiter, decimal: decimal as '.' | ',', models: modelsOf(query.models) }
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
 * DELETE /api/audit/invoices/{id}: deletes an imported invoice. The event of its import stays in
 * the history.
 */
export const deleteInvoice: Action = (api, deps) => {
  api.route({
    ...endpoint(invoiceActions, 'DELETE /api/audit/invoices/:id'),
    onRequest: onlyAdmin,
    handler: async (request) => {
      const command = { type: 'DeleteInvoice', invoiceId: request.params.id } as const
      const context = contextOf(deps, request)
      const { actors } = deps.core
      accepted(await actors.handle(invoicesDecider, INVOICES_STREAM, command, context))
      return done()
    },
  })
}

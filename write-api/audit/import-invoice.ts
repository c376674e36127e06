import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { INVOICES_STREAM, invoicesDecider } from '#domain/invoices/events.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { type Action, type Api, accepted, contextOf } from '../action.ts'
import { type ImportInvoice, invoiceActions } from '../contract/invoices.ts'
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
        // A file that is refused is not read to its end, so the connection cannot be used again.
        reply.header('connection', 'close')
        if (!(body instanceof Readable)) throw invoiceError('InvoiceEmpty')
        const file = body.iterator({ destroyOnReturn: false })
        const sums = await deps.runExclusive('invoice-import', () => sumInvoice(file, format))
        const invoiceId = randomUUID()
        const terms = { invoiceId, channelId: Number(query.channel_id), currency, dollars }
        const command = { type: 'ImportInvoice', ...terms, ...sums } as const
        const { actors, now } = deps.core
        const outcome = await actors.handle(
          invoicesDecider,
          INVOICES_STREAM,
          { ...command, importedAt: now() },
          contextOf(deps, request),
        )
        reply.header('x-position', String(accepted(outcome).position))
        const { rows, duplicates, lines } = sums
        return success({ id: invoiceId, rows, duplicates, lines: lines.length })
      },
    })
  })
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

/** DELETE /api/audit/invoices/{id}: deletes an imported invoice. Its import stays recorded. */
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

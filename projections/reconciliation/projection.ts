import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attempt, CallReleased, CallSettled } from '#domain/accounts/events.ts'
import { inputTokensOf } from '#domain/pricing/usage.ts'
import type {
  InvoiceRequestsDeleted,
  InvoiceRequestsRecorded,
} from '#domain/provider-invoices/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

type ReconciliationEvent =
  | CallSettled
  | CallReleased
  | InvoiceRequestsRecorded
  | InvoiceRequestsDeleted

/**
 * The attempts of calls by the ids that providers gave them, and the lines of providers' invoices
 * that contain such ids. Interrupted calls have no attempts.
 */
export const reconciliation = projectionOf<ReconciliationEvent>({
  name: 'reconciliation',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    requests: {
      key: ['channel_id', 'position', 'attempt', 'created_at'],
      monthColumn: 'created_at',
    },
    lines: { key: ['invoice_id', 'part', 'line'] },
  },
  handlers: {
    CallSettled: (event, rows) => recordAttempts(event, rows),
    CallReleased: (event, rows) => recordAttempts(event, rows),
    InvoiceRequestsRecorded: ({ data: { invoiceId: invoice_id, part, requests } }, rows) => {
      for (const [line, day, model, request_id, tokens, amount, isDuplicate = false] of requests) {
        rows.insert(
          'lines',
          { invoice_id, part, line },
          { day, model, request_id, tokens, amount, is_duplicate: isDuplicate },
        )
      }
    },
    InvoiceRequestsDeleted: ({ data: { invoiceId: invoice_id, part } }, rows) =>
      rows.removeWhere('lines', { invoice_id, part }),
  } satisfies Handlers<ReconciliationEvent>,
})

/** The members of an answer that providers use as the id of the request. */
const ANSWER_IDS = ['id', 'responseId'] as const

function recordAttempts(event: Recorded<CallSettled | CallReleased>, rows: RowChanges): void {
  const { attempts, call, userId, model } = event.data
  const created_at = secondsOf(event.meta.at)
  for (const [attempt, { channelId, evidence }] of attempts.entries()) {
    const requestId = evidence?.requestId ?? null
    const answerId = answerIdOf(evidence)
    if (requestId === null && answerId === null) continue
    const isServing = attempt === attempts.length - 1 && channelId === event.data.channelId
    rows.insert(
      'requests',
      { channel_id: channelId, position: event.position, attempt, created_at },
      {
        request_id: requestId,
        answer_id: answerId === requestId ? null : answerId,
        ...{ call, user_id: userId, model },
        ...(isServing && event.type === 'CallSettled' ? chargesOf(event.data) : NO_CHARGE),
      },
    )
  }
}

function answerIdOf(evidence: Attempt['evidence']): string | null {
  const { fingerprint } = evidence ?? {}
  if (fingerprint === undefined) return null
  const name = ANSWER_IDS.find((one) => Object.hasOwn(fingerprint, one))
  return name === undefined ? null : (fingerprint[name] ?? null)
}

const NO_CHARGE = { tokens: 0, cost: null, charged: 0, is_charged: false }

const chargesOf = ({ usage, cost, charge }: CallSettled['data']) => ({
  tokens: inputTokensOf(usage) + usage.output,
  cost: cost ?? null,
  charged: charge,
  is_charged: true,
})

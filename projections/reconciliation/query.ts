import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import {
  DAY,
  type Fragment,
  isNearDays,
  type MatchedProviderInvoice,
} from './shared-matching-sql.ts'

export { findOnlyOurs, listCalls, listOnlyOurs } from './calls-not-in-invoice.ts'
export { lineOfPlace, listMatches, type MatchSum, matchLines } from './match-invoice-lines.ts'
export type { MatchedProviderInvoice, RequestMatchRow } from './shared-matching-sql.ts'

const contents = rowType({ table: wireInteger, position: wireInteger })
/**
 * The state of the read model. `table` is the OID of the table of attempts, which changes when a
 * rebuild replaces the table. `position` is the position up to which the read model has all events.
 */
export type Contents = RowOf<typeof contents>

export const contentsOf = (db: CommonQueryMethods): Promise<Contents> =>
  db.one(sql.type(contents)`
    select 'read_reconciliation.requests'::regclass::oid::int8 as "table",
      (select min(position) from projections.checkpoint where name = 'reconciliation') as position
  `)

/**
 * The maximum number of new attempts that are looked up. If there are more, the invoice is matched
 * again, because this is faster.
 */
const NEW_ATTEMPTS_MAX = 20_000

/**
 * Reports whether an attempt after this position can change how an invoice is matched. This is the
 * case if an id of the attempt is in the invoice, or if the attempt was charged and its call ended
 * on the days of the invoice. Also returns true if there are more than `NEW_ATTEMPTS_MAX` attempts.
 */
export const hasNewAttempts = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
  position: number,
): Promise<boolean> => {
  const { invoiceId, channelId, firstDay, lastDay } = invoice
  const isNamed = (id: Fragment) => sql.fragment`exists (
    select from read_reconciliation.lines l
    where l.invoice_id = ${invoiceId} and l.request_id = ${id}
  )`
  return db.oneFirst(sql.type(rowType({ found: Type.Boolean() }))`
    select count(*) > ${NEW_ATTEMPTS_MAX} or coalesce(bool_or(is_relevant), false) as found from (
      select (is_charged and created_at >= ${firstDay} and created_at < ${lastDay + DAY})
        or ${isNamed(sql.fragment`r.request_id`)} or ${isNamed(sql.fragment`r.answer_id`)}
        as is_relevant
      from read_reconciliation.requests r
      where channel_id = ${channelId} and position > ${position} and ${isNearDays(invoice)}
      limit ${NEW_ATTEMPTS_MAX + 1}
    ) new
  `)
}

/** Counts the lines of invoices that contain request ids, including duplicates. */
export const countLines = (db: CommonQueryMethods, ids: readonly string[]): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count from read_reconciliation.lines
    where invoice_id = any(${sql.array([...ids], 'text')})
  `)

/** Counts the request ids of an invoice that another of the given invoices contains as well. */
export const countKnownIds = (
  db: CommonQueryMethods,
  invoiceId: string,
  others: readonly string[],
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count from (
      select request_id from read_reconciliation.lines where invoice_id = ${invoiceId}
      intersect
      select request_id from read_reconciliation.lines
      where invoice_id = any(${sql.array([...others], 'text')})
    ) known
  `)

/**
 * Lists the ids of all invoices that have lines, including invoices that are being imported or
 * deleted. Each id takes one lookup in the index, regardless of the number of lines.
 */
export const providerInvoiceIdsWithLines = (db: CommonQueryMethods): Promise<readonly string[]> =>
  db.anyFirst(sql.type(rowType({ id: Type.String() }))`
    with recursive ids as (
      (select invoice_id as id from read_reconciliation.lines order by invoice_id limit 1)
      union all
      select (
        select invoice_id from read_reconciliation.lines
        where invoice_id > ids.id order by invoice_id limit 1
      ) from ids where ids.id is not null
    ) select id from ids where id is not null
  `)

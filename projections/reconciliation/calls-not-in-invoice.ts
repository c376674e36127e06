import { type CommonQueryMethods, sql } from 'slonik'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import {
  DAY,
  integersOf,
  type MatchedProviderInvoice,
  type RequestMatchRow,
  requestMatch,
  wireIntegers,
} from './shared-matching-sql.ts'

/**
 * The `from` and `where` clauses for the charged calls that are not in an invoice. These are the
 * calls of the invoice's channel, on the days of the invoice, with ids that the invoice does not
 * contain.
 */
const onlyOurs = ({
  invoiceId,
  channelId,
  firstDay,
  lastDay,
}: MatchedProviderInvoice) => sql.fragment`
  from read_reconciliation.requests r
  where channel_id = ${channelId} and is_charged
    and created_at >= ${firstDay} and created_at < ${lastDay + DAY}
    and not exists (
      select from read_reconciliation.lines l
      where l.invoice_id = ${invoiceId} and l.request_id = r.request_id
    ) and not exists (
      select from read_reconciliation.lines l
      where l.invoice_id = ${invoiceId} and l.request_id = r.answer_id
    )`

const callColumns = sql.fragment`
  position as place, 0::int8 as rows, coalesce(request_id, answer_id) as "upstreamId",
  to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, model,
  0::int8 as tokens, 0::int8 as amount, 0::int8 as billed, call, user_id as "userId",
  created_at as "endedAt", model as "callModel", tokens as "callTokens", cost, charged`

type Page = { readonly after: number; readonly limit: number }

/**
 * Lists the calls that are not in the invoice, in the order in which they ended. Each call is
 * compared with the lines, so a page is fast only if many calls are not in the invoice.
 */
export const listOnlyOurs = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
  { after, limit }: Page,
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select ${callColumns} ${onlyOurs(invoice)} and position > ${after}
    order by position limit ${limit}
  `)

/**
 * Lists the charged calls of the invoice's channel, on the days of the invoice, whose final events
 * are at the given positions.
 */
export const listCalls = (
  db: CommonQueryMethods,
  { channelId, firstDay, lastDay }: MatchedProviderInvoice,
  positions: readonly number[],
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select ${callColumns} from read_reconciliation.requests r
    where channel_id = ${channelId} and position = any(${sql.array([...positions], 'int8')})
      and is_charged and created_at >= ${firstDay} and created_at < ${lastDay + DAY}
    order by position
  `)

/**
 * The maximum number of calls whose positions `findOnlyOurs` returns. These positions take 4 MB.
 */
const POSITIONS_MAX = 500_000

/**
 * Finds the calls that are not in the invoice. `positions` is null if there are more than
 * `POSITIONS_MAX` such calls. Pages of so many calls are read with `listOnlyOurs`.
 */
export async function findOnlyOurs(
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
): Promise<{ readonly count: number; readonly positions: Float64Array | null }> {
  const { count, positions } = await db.one(sql.type(
    rowType({ count: wireInteger, positions: wireIntegers }),
  )`
    with ours as materialized (select position ${onlyOurs(invoice)})
    select (select count(*) from ours) as count,
      ${integersOf(sql.fragment`string_agg(int8send(position), ''::bytea order by position)`)}
        as positions
    from (select position from ours order by position limit ${POSITIONS_MAX}) first
  `)
  return { count, positions: count > POSITIONS_MAX ? null : positions }
}

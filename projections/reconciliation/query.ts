import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { RequestMatch } from '#read-api/contract/provider-invoices.ts'

type LineMatch = Exclude<RequestMatch, 'only_ours'>

/**
 * An invoice with its channel and its period. `firstDay` and `lastDay` are the Unix seconds at
 * which the first and the last day start.
 */
export type MatchedProviderInvoice = {
  readonly invoiceId: string
  readonly channelId: number
  readonly firstDay: number
  readonly lastDay: number
  /** The price of one unit of the invoice's currency in dollars, as a decimal. */
  readonly dollars: string
  /** The number of decimals of the amounts, which are integers. */
  readonly decimals: number
  readonly hasTokens: boolean
}

const DAY = 86_400
/**
 * The time in seconds before and after the days of an invoice in which calls are searched for the
 * invoice's request ids.
 */
const SEARCHED_SECONDS = 62 * DAY

type Fragment = ReturnType<typeof sql.fragment>

/**
 * Cuts a number off at the largest integer of a response. Only invoices that an earlier release
 * imported may have larger ones.
 */
const wireSized = (number: Fragment): Fragment =>
  sql.fragment`greatest(-9007199254740991, least(9007199254740991, ${number}))::int8`

/**
 * Converts an amount of an invoice to quota as `quotaOf` does: half away from zero, and cut off
 * at the largest amount of a response.
 */
const billedOf = ({ dollars, decimals }: Pick<MatchedProviderInvoice, 'dollars' | 'decimals'>) =>
  wireSized(sql.fragment`
    round(l.id_amount * ${dollars}::numeric * ${`500000e-${decimals}`}::numeric)`)

/**
 * The lines of an invoice. The columns that start with `id_` are the first line, the number of
 * lines and the sums of all lines with the same request id, because providers may have a line for
 * each kind of token, and credits of earlier lines. Each duplicate stands for itself.
 */
const linesWithSums = (invoiceId: string) => sql.fragment`
  select *, min(line) over same_id as id_line, count(*) over same_id as id_lines,
    ${wireSized(sql.fragment`sum(tokens) over same_id`)} as id_tokens,
    (sum(amount) over same_id)::int8 as id_amount,
    min(model) over same_id as id_model_first, max(model) over same_id as id_model_last
  from read_reconciliation.lines
  where invoice_id = ${invoiceId}
  window same_id as (partition by request_id, case when is_duplicate then line end)`

/**
 * The query for the lines of an invoice after the line `after`. Each line is joined with the
 * attempt that has the line's request id, or with nulls. If the channel has several attempts with
 * this id, the first charged attempt is preferred, and otherwise the first one. The joins read each
 * side once, whatever the number of lines.
 */
const found = (
  { invoiceId, channelId, firstDay, lastDay, ...terms }: MatchedProviderInvoice,
  after: number,
) => {
  const named = (column: Fragment) => sql.fragment`
    select l.line, r.position, r.attempt, r.created_at, r.call, r.user_id, r.model, r.tokens,
      r.cost, r.charged, r.is_charged
    from read_reconciliation.lines l join read_reconciliation.requests r
      on ${column} = l.request_id and r.channel_id = ${channelId}
    where l.invoice_id = ${invoiceId} and l.line > ${after} and not l.is_duplicate
      and r.created_at >= ${firstDay - SEARCHED_SECONDS}
      and r.created_at < ${lastDay + DAY + SEARCHED_SECONDS}`
  return sql.fragment`
    select l.line, l.day, l.model, l.request_id, l.tokens, l.amount, l.is_duplicate,
      l.id_line, l.id_lines, l.id_tokens, l.id_amount, l.id_model_first, l.id_model_last,
      ${billedOf(terms)} as billed,
      r.position, r.attempt, r.created_at, r.call, r.user_id, r.model as call_model,
      r.tokens as call_tokens, r.cost, r.charged, r.is_charged
    from (${linesWithSums(invoiceId)}) l left join (
      select distinct on (line) * from (
        ${named(sql.fragment`r.request_id`)} union all ${named(sql.fragment`r.answer_id`)}
      ) named order by line, is_charged desc, position, attempt
    ) r on r.line = l.line
    where l.line > ${after}`
}

/**
 * The SQL condition that two numbers are nearly equal. They may differ by one percent, because
 * providers round each line.
 */
const isNear = (one: Fragment, other: Fragment) =>
  sql.fragment`abs(${one} - ${other}) <= greatest(1, greatest(abs(${one}), abs(${other})) / 100)`

const matchOf = ({ firstDay, lastDay, hasTokens }: MatchedProviderInvoice) => {
  // An unknown cost cannot differ, so this is true. It does not agree either.
  const isSame = isNear(sql.fragment`billed`, sql.fragment`coalesce(cost, billed)`)
  const areTokens = hasTokens
    ? isNear(sql.fragment`id_tokens`, sql.fragment`call_tokens`)
    : sql.fragment`true`
  return sql.fragment`
    case when is_duplicate then 'duplicate'
      when position is null then 'unknown'
      when not is_charged then 'failed'
      when created_at < ${firstDay - DAY} or created_at >= ${lastDay + 2 * DAY}
        then 'other_period'
      when not (${isSame} and ${areTokens}) then 'different'
      when id_model_first <> call_model or id_model_last <> call_model then 'other_model'
      when cost is null then 'cost_unknown'
      else 'matched' end`
}

const matchSum = rowType({
  match: Type.Unsafe<LineMatch>(Type.String()),
  day: Type.String(),
  model: Type.String(),
  /** The day and the model of the calls, or null for lines without a call. */
  callDay: nullable(wireInteger),
  callModel: nullable(Type.String()),
  /** The number of request ids. Each duplicate counts as one. */
  ids: wireInteger,
  rows: wireInteger,
  tokens: wireInteger,
  amount: Type.BigInt(),
  calls: wireInteger,
  callTokens: wireInteger,
  cost: wireInteger,
  charged: wireInteger,
})
export type MatchSum = RowOf<typeof matchSum>

/**
 * Sums the lines of an invoice that have request ids: by the kind of match, and by the days and
 * models of both sides. If several lines name the same call, the call is counted with the first of
 * them.
 */
export const sumMatches = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
): Promise<readonly MatchSum[]> =>
  db.any(sql.type(matchSum)`
    select match, to_char(day, 'YYYY-MM-DD') as day, model,
      created_at - created_at % 86400 as "callDay", call_model as "callModel",
      (count(*) filter (where line = id_line))::int8 as ids,
      count(*)::int8 as rows, ${wireSized(sql.fragment`sum(tokens)`)} as tokens,
      sum(amount)::int8 as amount,
      (count(*) filter (where is_counted))::int8 as calls,
      coalesce(sum(call_tokens) filter (where is_counted), 0)::int8 as "callTokens",
      coalesce(sum(cost) filter (where is_counted), 0)::int8 as cost,
      coalesce(sum(charged) filter (where is_counted), 0)::int8 as charged
    from (
      select *, ${matchOf(invoice)} as match,
        coalesce(is_charged, false)
          and row_number() over (partition by position, attempt order by line) = 1 as is_counted
      from (${found(invoice, 0)}) found
    ) matched
    group by match, day, model, "callDay", call_model
  `)

const requestMatch = rowType({
  /** The number of the row in the file, or the position of the call that is not in the invoice. */
  place: wireInteger,
  rows: wireInteger,
  upstreamId: Type.String(),
  day: Type.String(),
  model: Type.String(),
  tokens: wireInteger,
  amount: Type.BigInt(),
  billed: wireInteger,
  call: nullable(Type.String()),
  userId: nullable(wireInteger),
  endedAt: nullable(wireInteger),
  callModel: nullable(Type.String()),
  callTokens: nullable(wireInteger),
  cost: nullable(wireInteger),
  charged: nullable(wireInteger),
})
export type RequestMatchRow = RowOf<typeof requestMatch>

type Page = { readonly after: number; readonly limit: number }

/**
 * Lists the request ids of an invoice with the given kind of match, in the order of the file. Each
 * has the sums of its lines, and the day and the model of its first line.
 */
export const listMatches = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
  match: LineMatch,
  { after, limit }: Page,
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select line::int8 as place, id_lines as rows, request_id as "upstreamId",
      to_char(day, 'YYYY-MM-DD') as day, model, id_tokens as tokens, id_amount as amount,
      billed, call, user_id as "userId", created_at as "endedAt",
      call_model as "callModel", call_tokens as "callTokens", cost, charged
    from (${found(invoice, after)}) found
    where line = id_line and ${matchOf(invoice)} = ${match}
    order by line limit ${limit}
  `)

/**
 * The `from` and `where` clauses for the charged calls of the channel in the days of an invoice
 * whose ids the invoice does not contain.
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

/** Lists the calls that are not in the invoice, in the order of their ends. */
export const listOnlyOurs = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
  { after, limit }: Page,
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select position as place, 0::int8 as rows, coalesce(request_id, answer_id) as "upstreamId",
      to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, model,
      0::int8 as tokens, 0::int8 as amount, 0::int8 as billed, call, user_id as "userId",
      created_at as "endedAt", model as "callModel", tokens as "callTokens", cost, charged
    ${onlyOurs(invoice)} and position > ${after}
    order by position limit ${limit}
  `)

/** Counts the lines of invoices that contain request ids, including duplicates. */
export const countLines = (db: CommonQueryMethods, ids: readonly string[]): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count from read_reconciliation.lines
    where invoice_id = any(${sql.array([...ids], 'text')})
  `)

/** Counts the request ids of an invoice that one of the other invoices contains as well. */
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

export const countOnlyOurs = (
  db: CommonQueryMethods,
  invoice: MatchedProviderInvoice,
): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count ${onlyOurs(invoice)}
  `)

/**
 * Lists the ids of all invoices that have lines, including invoices that are being imported or
 * deleted. Each id takes one look-up in the index, whatever the number of lines.
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

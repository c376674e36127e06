import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { RequestMatch } from '#read-api/contract/invoices.ts'

type LineMatch = Exclude<RequestMatch, 'only_ours'>

/**
 * An invoice with its channel and its days. `firstDay` and `lastDay` are the starts of days in unix
 * seconds.
 */
export type MatchedInvoice = {
  readonly invoiceId: string
  readonly channelId: number
  readonly firstDay: number
  readonly lastDay: number
  /** The price of one unit of the invoice's currency in dollars, as a decimal. */
  readonly dollars: string
  readonly hasTokens: boolean
}

const DAY = 86_400
/**
 * How long before and after the days of the invoice calls are searched by their ids, in seconds.
 */
const SEARCHED_SECONDS = 62 * DAY

/** Converts billionths of the currency to quota as `quotaOf` does: half away from zero. */
const billedOf = (dollars: string) => sql.fragment`round(l.amount * ${dollars}::numeric * 0.0005)`

/**
 * Selects the lines of an invoice after the line `after`. Each has the attempt with its id, or
 * nulls. If the channel has several attempts with this id, the first charged attempt is preferred,
 * and otherwise the first one. The joins read each side once, whatever the number of lines.
 */
const found = (
  { invoiceId, channelId, firstDay, lastDay, dollars }: MatchedInvoice,
  after: number,
) => {
  const named = (column: ReturnType<typeof sql.fragment>) => sql.fragment`
    select l.line, r.position, r.attempt, r.created_at, r.call, r.user_id, r.model, r.tokens,
      r.cost, r.charged, r.is_charged
    from read_reconciliation.lines l join read_reconciliation.requests r
      on ${column} = l.request_id and r.channel_id = ${channelId}
    where l.invoice_id = ${invoiceId} and l.line > ${after} and not l.is_duplicate
      and r.created_at >= ${firstDay - SEARCHED_SECONDS}
      and r.created_at < ${lastDay + DAY + SEARCHED_SECONDS}`
  return sql.fragment`
    select l.line, l.day, l.model, l.request_id, l.tokens, l.amount, l.is_duplicate,
      ${billedOf(dollars)}::int8 as billed,
      r.position, r.attempt, r.created_at, r.call, r.user_id, r.model as call_model,
      r.tokens as call_tokens, r.cost, r.charged, r.is_charged
    from read_reconciliation.lines l left join (
      select distinct on (line) * from (
        ${named(sql.fragment`r.request_id`)} union all ${named(sql.fragment`r.answer_id`)}
      ) named order by line, is_charged desc, position
    ) r on r.line = l.line
    where l.invoice_id = ${invoiceId} and l.line > ${after}`
}

/**
 * Compares two figures. They count as equal if they differ by less than one percent, because
 * providers round each line.
 */
const isNear = (one: ReturnType<typeof sql.fragment>, other: ReturnType<typeof sql.fragment>) =>
  sql.fragment`abs(${one} - ${other}) <= greatest(1, greatest(abs(${one}), abs(${other})) / 100)`

const matchOf = ({ firstDay, lastDay, hasTokens }: MatchedInvoice) => {
  const isSame = isNear(sql.fragment`billed`, sql.fragment`coalesce(cost, billed)`)
  const areTokens = hasTokens
    ? isNear(sql.fragment`tokens`, sql.fragment`call_tokens`)
    : sql.fragment`true`
  return sql.fragment`
    case when is_duplicate then 'duplicate'
      when position is null then 'unknown'
      when not is_charged then 'failed'
      when created_at < ${firstDay - DAY} or created_at >= ${lastDay + 2 * DAY}
        then 'other_period'
      when ${isSame} and ${areTokens} then 'matched'
      else 'different' end`
}

const matchSum = rowType({
  match: Type.Unsafe<LineMatch>(Type.String()),
  day: Type.String(),
  model: Type.String(),
  /** The day and the model of the calls, or null for lines without a call. */
  callDay: nullable(wireInteger),
  callModel: nullable(Type.String()),
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
 * Sums the lines of an invoice that have ids: by the kind of match, and by the days and models of
 * both sides. A call that several lines name is counted with the first of them.
 */
export const sumMatches = (
  db: CommonQueryMethods,
  invoice: MatchedInvoice,
): Promise<readonly MatchSum[]> =>
  db.any(sql.type(matchSum)`
    select match, to_char(day, 'YYYY-MM-DD') as day, model,
      created_at - created_at % 86400 as "callDay", call_model as "callModel",
      count(*)::int8 as rows, sum(tokens)::int8 as tokens, sum(amount)::int8 as amount,
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

/** Lists the lines with a kind of match, in the order of the file. */
export const listMatches = (
  db: CommonQueryMethods,
  invoice: MatchedInvoice,
  match: LineMatch,
  { after, limit }: Page,
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select line::int8 as place, request_id as "upstreamId", to_char(day, 'YYYY-MM-DD') as day,
      model, tokens, amount, billed, call, user_id as "userId", created_at as "endedAt",
      call_model as "callModel", call_tokens as "callTokens", cost, charged
    from (${found(invoice, after)}) found
    where ${matchOf(invoice)} = ${match}
    order by line limit ${limit}
  `)

/**
 * Selects the charged calls of the channel in the days of an invoice whose ids the invoice does not
 * contain.
 */
const onlyOurs = ({ invoiceId, channelId, firstDay, lastDay }: MatchedInvoice) => sql.fragment`
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
  invoice: MatchedInvoice,
  { after, limit }: Page,
): Promise<readonly RequestMatchRow[]> =>
  db.any(sql.type(requestMatch)`
    select position as place, coalesce(request_id, answer_id) as "upstreamId",
      to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, model,
      0::int8 as tokens, 0::int8 as amount, 0::int8 as billed, call, user_id as "userId",
      created_at as "endedAt", model as "callModel", tokens as "callTokens", cost, charged
    ${onlyOurs(invoice)} and position > ${after}
    order by position limit ${limit}
  `)

export const countOnlyOurs = (db: CommonQueryMethods, invoice: MatchedInvoice): Promise<number> =>
  db.oneFirst(sql.type(rowType({ count: wireInteger }))`
    select count(*)::int8 as count ${onlyOurs(invoice)}
  `)

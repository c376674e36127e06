import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import {
  DAY,
  type Fragment,
  HIGH_FACTOR,
  integersOf,
  isNearDays,
  type LineMatch,
  type MatchedProviderInvoice,
  type RequestMatchRow,
  requestMatch,
  wireIntegers,
  wireSized,
} from './shared-matching-sql.ts'

/**
 * Converts an amount of an invoice to quota as `quotaOf` does. The result is rounded half away from
 * zero, and limited to the largest amount that a response can contain.
 */
const billedOf = ({ dollars, decimals }: Pick<MatchedProviderInvoice, 'dollars' | 'decimals'>) =>
  wireSized(sql.fragment`
    round(l.id_amount * ${dollars}::numeric * ${`500000e-${decimals}`}::numeric)`)

/** Returns the number of the line at a place (see `listMatches`). */
export const lineOfPlace = (place: number): number => place % HIGH_FACTOR

/**
 * The SQL query for the lines of an invoice. A provider can bill one request in several lines, such
 * as one for each kind of token, or credits of earlier lines. The columns that start with `id_`
 * therefore describe all lines with the same request id: the first line and the sums. A duplicate
 * line is not added to these sums.
 */
const linesWithSums = (invoiceId: string) => sql.fragment`
  select *, min(line) over same_id as id_line,
    ${wireSized(sql.fragment`sum(tokens) over same_id`)} as id_tokens,
    (sum(amount) over same_id)::int8 as id_amount,
    min(model) over same_id as id_model_first, max(model) over same_id as id_model_last
  from read_reconciliation.lines
  where invoice_id = ${invoiceId}
  window same_id as (partition by request_id, case when is_duplicate then line end)`

/**
 * The query for all lines of an invoice. Each line is joined with the attempt that has the line's
 * request id, or with nulls. If the channel has several attempts with this id, the line is joined
 * with the first charged attempt, or with the first attempt if none was charged. The joins read
 * each side once, regardless of the number of lines.
 */
const found = (invoice: MatchedProviderInvoice) => {
  const { invoiceId, channelId, ...terms } = invoice
  const named = (column: Fragment) => sql.fragment`
    select l.line, r.position, r.attempt, r.created_at, r.model, r.tokens, r.cost, r.charged,
      r.is_charged
    from read_reconciliation.lines l join read_reconciliation.requests r
      on ${column} = l.request_id and r.channel_id = ${channelId}
    where l.invoice_id = ${invoiceId} and not l.is_duplicate and ${isNearDays(invoice)}`
  return sql.fragment`
    select l.part, l.line, l.day, l.model, l.tokens, l.amount, l.is_duplicate, l.id_line,
      l.id_tokens, l.id_model_first, l.id_model_last, ${billedOf(terms)} as billed,
      r.position, r.attempt, r.created_at, r.model as call_model, r.tokens as call_tokens,
      r.cost, r.charged, r.is_charged
    from (${linesWithSums(invoiceId)}) l left join (
      select distinct on (line) * from (
        ${named(sql.fragment`r.request_id`)} union all ${named(sql.fragment`r.answer_id`)}
      ) named order by line, is_charged desc, position, attempt
    ) r on r.line = l.line`
}

/**
 * The SQL condition that two numbers are nearly equal. A difference of one percent, or of 1 for
 * small numbers, is allowed, because providers round each line.
 */
const isNear = (one: Fragment, other: Fragment) =>
  sql.fragment`abs(${one} - ${other}) <= greatest(1, greatest(abs(${one}), abs(${other})) / 100)`

const matchOf = ({ firstDay, lastDay, hasTokens }: MatchedProviderInvoice) => {
  // If the cost is unknown, this condition is true, so that the amounts do not make the result
  // `different`. In this case, the result is `cost_unknown`, unless an earlier case applies.
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
  /** The number of request ids. For the match `duplicate`, the number of duplicate lines. */
  ids: wireInteger,
  rows: wireInteger,
  tokens: wireInteger,
  amount: Type.BigInt(),
  calls: wireInteger,
  callTokens: wireInteger,
  cost: wireInteger,
  charged: wireInteger,
  /** The places (see `listMatches`) of the first line with each request id. */
  places: wireIntegers,
})
export type MatchSum = RowOf<typeof matchSum>

/**
 * Matches all lines of an invoice that have request ids with calls. Returns sums, each for one kind
 * of match, one day and model of the lines, and one day and model of the calls. If several lines
 * name the same call, the call is counted only with the first of these lines. Calls that were not
 * charged are not counted.
 */
export const matchLines = (
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
      coalesce(sum(charged) filter (where is_counted), 0)::int8 as charged,
      ${integersOf(sql.fragment`
        string_agg(int4send(part) || int4send(line), ''::bytea) filter (where line = id_line)`)}
        as places
    from (
      select *, ${matchOf(invoice)} as match,
        coalesce(is_charged, false)
          and row_number() over (partition by position, attempt order by line) = 1 as is_counted
      from (${found(invoice)}) found
    ) matched
    group by match, day, model, "callDay", call_model
  `)

/**
 * Lists the request ids whose first lines are at these places, in the order of the file. Each
 * result has the sums of the request id's lines, the day and the model of the first line, and the
 * attempt that `matchLines` chooses. A place is the number of the invoice's part (one event of the
 * import), times `HIGH_FACTOR`, plus the number of the line. NOTE: each line is looked up
 * (`lateral` with `limit` or sums). The planner would otherwise join all lines, because it has no
 * statistics of a new invoice.
 */
export const listMatches = (
  db: CommonQueryMethods,
  { invoiceId, channelId, ...invoice }: MatchedProviderInvoice,
  places: readonly number[],
): Promise<readonly RequestMatchRow[]> => {
  const parts = places.map((place) => Math.floor(place / HIGH_FACTOR))
  const named = (column: Fragment) => sql.fragment`
    select r.* from read_reconciliation.requests r
    where ${column} = l.request_id and r.channel_id = ${channelId}
      and ${isNearDays({ invoiceId, channelId, ...invoice })}`
  return db.any(sql.type(requestMatch)`
    select l.line::int8 as place, l.id_lines as rows, l.request_id as "upstreamId",
      to_char(l.day, 'YYYY-MM-DD') as day, l.model, l.id_tokens as tokens, l.id_amount as amount,
      ${billedOf(invoice)} as billed, r.call, r.user_id as "userId", r.created_at as "endedAt",
      r.model as "callModel", r.tokens as "callTokens", r.cost, r.charged
    from (
      select one.*, same_id.* from unnest(
        ${sql.array(parts, 'int4')}, ${sql.array(places.map(lineOfPlace), 'int4')}
      ) as s (part, line) cross join lateral (
        select * from read_reconciliation.lines l
        where l.invoice_id = ${invoiceId} and l.part = s.part and l.line = s.line limit 1
      ) one cross join lateral (
        select count(*) as id_lines, ${wireSized(sql.fragment`sum(tokens)`)} as id_tokens,
          sum(amount)::int8 as id_amount
        from read_reconciliation.lines l
        where l.invoice_id = ${invoiceId} and l.request_id = one.request_id
          and case when one.is_duplicate then l.line = one.line else not l.is_duplicate end
      ) same_id
    ) l left join lateral (
      select * from (
        ${named(sql.fragment`r.request_id`)} union all ${named(sql.fragment`r.answer_id`)}
      ) named order by is_charged desc, position, attempt limit 1
    ) r on not l.is_duplicate
    order by l.line
  `)
}

import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { nullable, quota, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const movement = rowType({
  position: wireInteger,
  revision: wireInteger,
  createdAt: wireInteger,
  type: Type.String(),
  source: Type.String(),
  amount: quota,
  balance: nullable(quota),
  held: nullable(quota),
  actorId: wireInteger,
  reason: Type.String(),
  note: nullable(Type.String()),
  model: Type.String(),
  tokenId: wireInteger,
  channelId: wireInteger,
})
export type MovementRow = RowOf<typeof movement>

const COLUMNS = sql.fragment`position, revision, created_at as "createdAt", type, source, amount,
  balance, held, actor_id as "actorId", reason, note, model, token_id as "tokenId",
  channel_id as "channelId"`

/** A part of an account's ledger: the movements with positions above `after` and below `before`. */
export type LedgerRange = { readonly after: number; readonly before: number }

/** A position that is higher than the position of any movement. */
const END = Number.MAX_SAFE_INTEGER

/**
 * The maximum difference between the clocks of a site's processes, in seconds. If the times of two
 * movements differ by more, the earlier movement also comes first in the account.
 */
const CLOCK_SKEW_MAX = 600

/**
 * Returns the range of the movements in a period, in Unix seconds. The range starts with the first
 * movement of the account at or after `from`, and ends before the first movement at or after `to`.
 * The order of movements in the account decides, because the clocks of processes differ. Successive
 * periods therefore have successive ranges, and no movement is in two of them.
 */
export async function rangeOfPeriod(
  db: CommonQueryMethods,
  userId: number,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<LedgerRange> {
  const [first, end] = await Promise.all([
    from === undefined ? 1 : firstPositionAt(db, userId, from),
    to === undefined ? END : firstPositionAt(db, userId, to),
  ])
  return { after: first - 1, before: Math.max(first, end) }
}

/**
 * Returns the lowest position of a movement at or after the time, or `END` if there is none.
 * Because clocks differ, the first movement by time may not have the lowest position. A movement
 * with a lower position can be at most `CLOCK_SKEW_MAX` later. `offset 0` prevents Postgres from
 * searching the primary key from its start.
 */
async function firstPositionAt(
  db: CommonQueryMethods,
  userId: number,
  time: number,
): Promise<number> {
  const position = await db.oneFirst(sql.type(rowType({ position: nullable(wireInteger) }))`
    select min(position) as position from (
      select position from read_ledger.movements
      where user_id = ${userId} and created_at >= ${time} and created_at <= (
        select min(created_at) from read_ledger.movements
        where user_id = ${userId} and created_at >= ${time}
      ) + ${CLOCK_SKEW_MAX}
      offset 0
    ) soon
  `)
  return position ?? END
}

export type LedgerFilter = LedgerRange & {
  readonly userId: number
  /** The types of the movements. An empty list means all types. */
  readonly types: readonly string[]
}

/** Returns movements, newest first. */
export async function listMovements(
  db: CommonQueryMethods,
  filter: LedgerFilter,
  limit: number,
): Promise<readonly MovementRow[]> {
  const { userId, after, before, types } = filter
  if (types.length > 0 && !types.includes('call')) return await listByType(db, filter, limit)
  const ofTypes =
    types.length === 0 ? sql.fragment`` : sql.fragment`and type = any(${sql.array(types, 'text')})`
  return await db.any(sql.type(movement)`
    select ${COLUMNS} from read_ledger.movements
    where user_id = ${userId} and position > ${after} and position < ${before} ${ofTypes}
    order by position desc limit ${limit}
  `)
}

/**
 * Reads the newest movements of each type with the partial index, which contains no calls. A query
 * for all types at once would read and sort all movements of these types.
 */
async function listByType(
  db: CommonQueryMethods,
  { userId, after, before, types }: LedgerFilter,
  limit: number,
): Promise<readonly MovementRow[]> {
  return await db.any(sql.type(movement)`
    select ${COLUMNS} from unnest(${sql.array([...new Set(types)], 'text')}) as listed (kind),
      lateral (
        select * from read_ledger.movements
        where user_id = ${userId} and type = kind and type <> 'call'
          and position > ${after} and position < ${before}
        order by position desc limit ${limit}
      ) newest
    order by position desc limit ${limit}
  `)
}

/** Amounts of an account in quota. `total` is the balance plus the held quota. */
export type Figures = {
  readonly total: bigint
  /**
   * The balance. Null, like `held`, if the event of the last movement is of an earlier version.
   * Such an event lacks both amounts.
   */
  readonly balance: bigint | null
  readonly held: bigint | null
}

/**
 * The amounts of an account after the last movement of a range. `position` is the position of this
 * movement, or 0 for an empty range.
 */
export type FiguresAt = Figures & { readonly position: number }

/** Returns the amounts of an account after its last movement before the position `before`. */
export async function figuresBefore(
  db: CommonQueryMethods,
  userId: number,
  before: number,
): Promise<FiguresAt> {
  const row = rowType({ position: wireInteger, balance: nullable(quota), held: nullable(quota) })
  const last = await db.maybeOne(sql.type(row)`
    select position, balance, held from read_ledger.movements
    where user_id = ${userId} and position < ${before} order by position desc limit 1
  `)
  if (last === null) return { position: 0, total: 0n, balance: 0n, held: 0n }
  const { position, balance, held } = last
  if (balance !== null && held !== null) return { position, total: balance + held, balance, held }
  const total = await sumAmounts(db, userId, 0, position)
  return { position, total, balance: null, held: null }
}

/** Returns the sum of the movements after the position `after` and up to the position `until`. */
async function sumAmounts(
  db: CommonQueryMethods,
  userId: number,
  after: number,
  until: number,
): Promise<bigint> {
  return await db.oneFirst(sql.type(rowType({ total: quota }))`
    select coalesce(sum(amount), 0)::int8 as total from read_ledger.movements
    where user_id = ${userId} and position > ${after} and position <= ${until}
  `)
}

export type TotalAt = { readonly position: number; readonly total: bigint }

/**
 * Returns the account's total (balance plus held quota) after each of the movements `rows`, which
 * are sorted newest first. Rows of earlier versions do not contain their totals. The totals of such
 * rows are computed from the total after the oldest such row, by adding the amounts of the later
 * movements. The total after this oldest row is computed from `newer`, the total at a later
 * position. If `newer` is null, the total after the oldest row is the sum of all amounts up to this
 * row. The number of queries does not depend on the number of rows.
 */
export async function totalsOf(
  db: CommonQueryMethods,
  userId: number,
  rows: readonly MovementRow[],
  newer: TotalAt | null,
): Promise<readonly bigint[]> {
  const oldest = rows.findLast(lacksTotal)
  if (oldest === undefined) return rows.map(({ balance, held }) => (balance ?? 0n) + (held ?? 0n))
  const base =
    newer === null
      ? await sumAmounts(db, userId, 0, oldest.position)
      : newer.total - (await sumAmounts(db, userId, oldest.position, newer.position))
  const positions = rows.filter(lacksTotal).map(({ position }) => position)
  const added = await db.any(sql.type(rowType({ position: wireInteger, added: quota }))`
    select position, added from (
      select position, sum(amount) over (order by position)::int8 as added
      from read_ledger.movements
      where user_id = ${userId} and position > ${oldest.position}
        and position <= ${positions[0] ?? 0}
    ) summed where position = any(${sql.array(positions, 'int8')})
  `)
  const addedTo = new Map(added.map((row) => [row.position, row.added]))
  return rows.map(({ position, balance, held }) =>
    balance === null || held === null ? base + (addedTo.get(position) ?? 0n) : balance + held,
  )
}

const lacksTotal = ({ balance, held }: MovementRow): boolean => balance === null || held === null

const sum = rowType({
  type: Type.String(),
  model: Type.String(),
  day: wireInteger,
  count: wireInteger,
  amount: quota,
})
export type LedgerSum = RowOf<typeof sum>

/** A period that begins and ends at the start of a UTC day, in Unix seconds. */
export type Period = { readonly from: number; readonly to: number }

export type StatementSums = {
  readonly opening: Figures
  readonly closing: Figures
  readonly sums: readonly LedgerSum[]
  /** The range of the summed movements. This range excludes movements that are written later. */
  readonly range: LedgerRange
}

/**
 * Returns the sums of an account's movements in a period by type, model and UTC day (Unix seconds
 * of its start). Also returns the account's amounts at both ends of the period. Everything is read
 * in one snapshot. Normally, the sums of days are added up. If clocks differ by more than
 * `CLOCK_SKEW_MAX`, the result may not match the amounts at both ends. In this case, the movements
 * themselves are summed.
 */
export async function sumsOfPeriod(
  db: DatabasePool,
  userId: number,
  period: Period,
): Promise<StatementSums> {
  return await db.transaction(async (snapshot) => {
    await snapshot.query(sql.unsafe`set transaction isolation level repeatable read, read only`)
    const range = await rangeOfPeriod(snapshot, userId, period)
    const { opening, closing } = await figuresAtEnds(snapshot, userId, range)
    const sums = await sumDays(snapshot, userId, period, range)
    const change = sums.reduce((total, { amount }) => total + amount, 0n)
    const isExact = opening.total + change === closing.total
    const summed = { after: range.after, before: Math.min(range.before, closing.position + 1) }
    const ends = { opening, closing, range: summed }
    if (isExact) return { ...ends, sums }
    return { ...ends, sums: await sumMovements(snapshot, userId, range) }
  })
}

/**
 * Returns the account's amounts before the first movement of a range and after its last movement.
 */
export async function figuresAtEnds(
  db: CommonQueryMethods,
  userId: number,
  { after, before }: LedgerRange,
): Promise<{ readonly opening: Figures; readonly closing: FiguresAt }> {
  const closing = await figuresBefore(db, userId, before)
  const start = Math.min(after, closing.position)
  const opening = start === closing.position ? closing : await figuresBefore(db, userId, start + 1)
  return { opening, closing }
}

/**
 * Adds up the daily sums of a period. The order of the movements in the account, and not their
 * times, decides which movements are in the period. Because clocks differ, the period can therefore
 * include movements from the last ten minutes before its first day, and lack movements from the
 * last ten minutes of its last day.
 */
async function sumDays(
  db: CommonQueryMethods,
  userId: number,
  { from, to }: Period,
  { after, before }: LedgerRange,
): Promise<readonly LedgerSum[]> {
  const shortlyBefore = (time: number) => sql.fragment`
    created_at >= ${time - CLOCK_SKEW_MAX} and created_at < ${time}`
  const day = sql.fragment`created_at - created_at % 86400`
  return await db.any(sql.type(sum)`
    select type, model, day, sum(count)::int8 as count, sum(amount)::int8 as amount from (
      select type, model, day, count, amount from read_ledger.account_days
      where user_id = ${userId} and day >= ${from} and day < ${to}
      union all
      select type, model, ${day}, 1, amount from read_ledger.movements
      where user_id = ${userId} and ${shortlyBefore(from)} and position > ${after}
        and position < ${before}
      union all
      select type, model, ${day}, -1, -amount from read_ledger.movements
      where user_id = ${userId} and ${shortlyBefore(to)} and position >= ${before}
    ) parts
    group by type, model, day having sum(count) <> 0 order by day, type, model
  `)
}

/** Adds up the movements of a range by reading each of them. */
export async function sumMovements(
  db: CommonQueryMethods,
  userId: number,
  { after, before }: LedgerRange,
): Promise<readonly LedgerSum[]> {
  return await db.any(sql.type(sum)`
    select type, model, created_at - created_at % 86400 as day, count(*)::int8 as count,
      sum(amount)::int8 as amount
    from read_ledger.movements
    where user_id = ${userId} and position > ${after} and position < ${before}
    group by type, model, day order by day, type, model
  `)
}

const siteSum = rowType({
  type: Type.String(),
  reason: Type.String(),
  channelId: wireInteger,
  model: Type.String(),
  count: wireInteger,
  amount: quota,
})
export type SiteSum = RowOf<typeof siteSum>

/**
 * Returns the sums of all accounts in a month. `month` is the start of the month in Unix seconds.
 */
export async function sumSite(db: CommonQueryMethods, month: number): Promise<readonly SiteSum[]> {
  return await db.any(sql.type(siteSum)`
    select type, reason, channel_id as "channelId", model, count, amount
    from read_ledger.site_months where month = ${month}
    order by type, reason, channel_id, model
  `)
}

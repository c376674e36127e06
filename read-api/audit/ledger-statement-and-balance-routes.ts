import type { FastifyRequest } from 'fastify'
import type { Sealed } from '#domain/shared/event.ts'
import { onlyAuditor, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelNames } from '#projections/channels/query.ts'
import { countCorrectedCalls } from '#projections/corrected-calls/query.ts'
import {
  type Figures,
  figuresAtEnds,
  type LedgerFilter,
  listMovements,
  type MovementRow,
  rangeOfPeriod,
  type SiteSum,
  sumSite,
  sumsOfPeriod,
  type TotalAt,
  totalsOf,
} from '#projections/ledger/query.ts'
import { usernamesByIds, usersByIds } from '#projections/users/query.ts'
import {
  type LedgerItem,
  type LedgerPage,
  type LedgerQuery,
  ledgerQueries,
  type SiteMonth,
  type Statement,
  type StatementQuery,
} from '../contract/ledger.ts'
import { MOVEMENT_TYPES, type MovementType } from '../contract/ledger-movement-types.ts'
import {
  type App,
  integerOf,
  periodOf,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import { balanceAt } from './balance-at.ts'
import { type Moment, parseMoment } from './parse-moment.ts'

const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 100

/**
 * The user whose ledger is read. `isOwner` is true if the ledger is requested through a route for
 * the caller's own ledger. Owners see neither the channels of their calls nor the names of the
 * users who caused changes.
 */
export type LedgerViewer = { readonly userId: number; readonly isOwner: boolean }

type UserLedgerViewer = LedgerViewer & { readonly username: string }

export const ownLedger = (request: FastifyRequest): LedgerViewer => ({
  userId: principalOf(request).userId,
  isOwner: true,
})

/**
 * `GET /api/ledger/self` and `GET /api/audit/ledger/:userId`: the entries of an account's ledger,
 * newest first, each with the total, the balance and the held quota after the entry. The response
 * also has these three figures at the start and at the end of the period.
 */
export function listLedger(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/ledger/self'),
    ...{ preHandler: upToDate(deps, 'ledger', 'corrected-calls'), onRequest: onlyUser },
    handler: async (request) => success(await ledgerPage(deps, ownLedger(request), request.query)),
  })
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/ledger/:userId'),
    preHandler: upToDate(deps, 'ledger', 'users', 'corrected-calls'),
    onRequest: onlyAuditor,
    handler: async ({ params, query }) => {
      const viewer = await userLedger(deps, params.userId)
      const page = await ledgerPage(deps, viewer, query)
      return success({ ...page, username: viewer.username })
    },
  })
}

/** Finds the user whose ledger an auditor reads. Throws a 404 if there is no such user. */
export async function userLedger({ core }: ReadDeps, id: string): Promise<UserLedgerViewer> {
  const userId = Number(id)
  const [user] = await usersByIds(core.db, [userId])
  if (user === undefined) throw auditError('ObjectUnknown')
  return { userId, isOwner: false, username: user.username }
}

/**
 * Reads the filters of a ledger request. Throws a 400 if a type is unknown, if `to` is before
 * `from`, or if `at` is not a moment. With `at`, the range ends with the account's last event at or
 * before this moment. `balanceAt` returns the balance after the same event.
 */
export async function ledgerFilter(
  { core }: ReadDeps,
  { userId }: LedgerViewer,
  query: Pick<LedgerQuery, 'from' | 'to' | 'types' | 'at'>,
): Promise<LedgerFilter> {
  const types = (textOf(query.types) ?? '').split(',').filter((type) => type !== '')
  const known: readonly string[] = MOVEMENT_TYPES
  const unknown = types.find((type) => !known.includes(type))
  if (unknown !== undefined) {
    const listed = MOVEMENT_TYPES.join(', ')
    throw invalidField('types', { zh: `可用的类型：${listed}`, en: `must be some of ${listed}` })
  }
  const moment = parseMoment(query.at)
  const range = await rangeOfPeriod(core.db, userId, periodOf(query))
  if (moment === null) return { userId, types, ...range }
  const { position } = await balanceAt(core.store, userId, moment)
  return { userId, types, ...range, before: Math.min(range.before, position + 1) }
}

async function ledgerPage(
  deps: ReadDeps,
  viewer: LedgerViewer,
  query: LedgerQuery,
): Promise<LedgerPage> {
  const { db } = deps.core
  const limit = Math.min(integerOf(query.limit) || PAGE_SIZE, PAGE_SIZE_MAX)
  const filter = await ledgerFilter(deps, viewer, query)
  const { opening, closing } = await figuresAtEnds(db, filter.userId, filter)
  // Entries that are written after the figures were read are left out, because these entries would
  // not add up to the closing figures.
  const end = closing.position + 1
  const before = Math.min(integerOf(query.cursor) ?? end, end)
  const found = await listMovements(db, { ...filter, before }, limit + 1)
  const rows = found.slice(0, limit)
  const period = { ...periodOf(query), at: parseMoment(query.at) }
  return {
    ...(await endsOf(deps, filter.userId, { opening, closing }, period)),
    items: await ledgerItems(deps, viewer, rows),
    next_cursor: found.length > limit ? (rows.at(-1)?.position ?? null) : null,
  }
}

type Ends<F> = { readonly opening: F; readonly closing: F }

type PeriodAsOf = {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly at?: Moment | null
}

/**
 * Returns the total, the balance and the held quota of an account at the start and at the end of a
 * period. The figures include the holds of calls that were open at these moments. `from` and `to`
 * are in Unix seconds. A period ends at `at` at the latest. Without `to` and `at`, the period lasts
 * until now.
 */
async function endsOf(
  { core: { store } }: ReadDeps,
  userId: number,
  { opening, closing }: Ends<Figures>,
  { from, to, at = null }: PeriodAsOf,
): Promise<Ends<ReturnType<typeof wireFigures>>> {
  const before = (seconds: number): Moment => ({ time: seconds * 1_000 - 1 })
  const [first, last] = await Promise.all([
    from === undefined ? opening : withHolds(store, userId, opening, [before(from), at]),
    withHolds(store, userId, closing, [to === undefined ? null : before(to), at]),
  ])
  return { opening: wireFigures(first), closing: wireFigures(last) }
}

/**
 * Adds later holds to `figures`, which are the total, the balance and the held quota after a ledger
 * entry. A hold moves quota from the balance to the held quota without a ledger entry, and leaves
 * the total unchanged. Only holds up to the earlier of the two `moments` are added. A moment of
 * null is the present. If the total at this moment differs from the total in `figures`, the ledger
 * has another entry in between, and `figures` is returned unchanged. `figures` without a balance
 * are returned unchanged, too.
 */
async function withHolds(
  store: ReadDeps['core']['store'],
  userId: number,
  figures: Figures,
  moments: readonly [Moment | null, Moment | null],
): Promise<Figures> {
  // If the ledger entry does not contain the balance, `balanceAt` would have to read the whole
  // history.
  if (figures.balance === null) return figures
  // One moment may be a time and the other one a position, and a time can't be compared with a
  // position. The account's last events up to the two moments are compared instead.
  const one = await balanceAt(store, userId, moments[0])
  const other = moments[1] === null ? one : await balanceAt(store, userId, moments[1])
  const { total, balance, held } = other.position < one.position ? other : one
  if (BigInt(total) !== figures.total) return figures
  return { total: figures.total, balance: BigInt(balance), held: BigInt(held) }
}

const wireFigures = ({ total, balance, held }: Figures) => ({
  total: Number(total),
  balance: balance === null ? null : Number(balance),
  held: held === null ? null : Number(held),
})

/**
 * Converts rows to the items of a response. `newer` is the total at a position after these rows, or
 * null if the caller does not know such a total.
 */
export async function ledgerItems(
  { core }: ReadDeps,
  { userId, isOwner }: LedgerViewer,
  rows: readonly MovementRow[],
  newer: TotalAt | null = null,
): Promise<LedgerItem[]> {
  const items: LedgerItem[] = []
  const totals = await totalsOf(core.db, userId, rows, newer)
  const corrections = rows.filter(({ type }) => type === 'correction')
  const calls = await countCorrectedCalls(
    core.db,
    corrections.map(({ position }) => position),
  )
  const actors = isOwner ? [] : rows.map(({ actorId }) => actorId)
  const names = await usernamesByIds(core.db, actors)
  for (const [n, { balance, held, note, ...row }] of rows.entries()) {
    const total = totals[n] ?? 0n
    const text = note === null ? '' : await core.vault.open(userId, note as Sealed)
    items.push({
      ...{ position: row.position, revision: row.revision, created_at: row.createdAt },
      ...{ type: row.type as MovementType, source: row.source, reason: row.reason },
      ...{ amount: Number(row.amount), ...wireFigures({ total, balance, held }) },
      ...{ actor_id: row.actorId, actor_name: names.get(row.actorId) ?? '' },
      ...{ note: text ?? '', is_note_erased: text === null },
      ...{ model: row.model, token_id: row.tokenId },
      channel_id: isOwner ? 0 : row.channelId,
      corrected_calls: calls.get(row.position) ?? 0,
    })
  }
  return items
}

/**
 * `GET /api/ledger/self/statement` and `GET /api/audit/statement/:userId`: the sums of one month,
 * the quota at the start and at the end of the month, and one page of the month's entries.
 */
export function getStatement(app: App, deps: ReadDeps): void {
  const preHandler = upToDate(deps, 'ledger', 'users', 'corrected-calls')
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/ledger/self/statement'),
    ...{ preHandler, onRequest: onlyUser },
    handler: async (request) => success(await statementOf(deps, ownLedger(request), request.query)),
  })
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/statement/:userId'),
    ...{ preHandler, onRequest: onlyAuditor },
    handler: async ({ params, query }) =>
      success(await statementOf(deps, await userLedger(deps, params.userId), query)),
  })
}

async function statementOf(
  deps: ReadDeps,
  viewer: LedgerViewer,
  { month, ...query }: StatementQuery,
): Promise<Statement> {
  const { db } = deps.core
  const { userId } = viewer
  const period = periodOfMonth(month)
  const limit = Math.min(integerOf(query.limit) || PAGE_SIZE, PAGE_SIZE_MAX)
  const [{ sums, range, ...ends }, users] = await Promise.all([
    sumsOfPeriod(db, userId, period),
    usersByIds(db, [userId]),
  ])
  const before = Math.min(integerOf(query.cursor) ?? range.before, range.before)
  const found = await listMovements(db, { userId, ...range, before, types: [] }, limit + 1)
  const rows = found.slice(0, limit)
  return {
    ...{ user_id: userId, username: users[0]?.username ?? '', month },
    ...(await endsOf(deps, userId, ends, period)),
    by_type: sumsBy(
      sums,
      ({ type }) => type,
      (type) => ({ type }),
    ),
    by_model: sumsBy(
      sums.filter(({ model }) => model !== ''),
      ({ model }) => model,
      (model) => ({ model }),
    ),
    by_day: sumsBy(
      sums,
      ({ day }) => day,
      (day) => ({ day }),
    ),
    calls: sums
      .filter(({ type }) => type === 'call')
      .map(({ day, model, count, amount }) => ({ day, model, count, amount: Number(amount) })),
    items: await ledgerItems(deps, viewer, rows),
    next_cursor: found.length > limit ? (rows.at(-1)?.position ?? null) : null,
  }
}

/** Returns the start and the end of a month (`2026-11`) in UTC, in Unix seconds. */
function periodOfMonth(month: string): { readonly from: number; readonly to: number } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { from: Date.UTC(year, number - 1) / 1_000, to: Date.UTC(year, number) / 1_000 }
}

type SumOfMovements = { readonly count: number; readonly amount: bigint }

function sumsBy<Row extends SumOfMovements, Key, Part extends object>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  partOf: (key: Key) => Part,
): (Part & { count: number; amount: number })[] {
  const sums = new Map<Key, { count: number; amount: bigint }>()
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? { count: 0, amount: 0n }
    sums.set(keyOf(row), { count: sum.count + row.count, amount: sum.amount + row.amount })
  }
  return [...sums].map(([key, { count, amount }]) => ({
    ...partOf(key),
    ...{ count, amount: Number(amount) },
  }))
}

/**
 * `GET /api/audit/balance/:userId` and `GET /api/ledger/self/balance`: the balance and the held
 * quota of an account at a moment.
 */
export function getBalanceAt(app: App, deps: ReadDeps): void {
  const { store } = deps.core
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/ledger/self/balance'),
    onRequest: onlyUser,
    handler: async (request) => {
      const { userId } = principalOf(request)
      return success(await balanceAt(store, userId, parseMoment(request.query.at)))
    },
  })
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/balance/:userId'),
    ...{ onRequest: onlyAuditor, preHandler: upToDate(deps, 'users') },
    handler: async ({ params, query }) => {
      const { userId } = await userLedger(deps, params.userId)
      return success(await balanceAt(store, userId, parseMoment(query.at)))
    },
  })
}

/** `GET /api/audit/site-month`: the sums of all accounts in a month. */
export function getSiteMonth(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/site-month'),
    ...{ onRequest: onlyAuditor, preHandler: upToDate(deps, 'ledger', 'channels') },
    handler: async ({ query: { month } }) => {
      const { db } = deps.core
      const sums = await sumSite(db, periodOfMonth(month).from)
      const names = await channelNames(db, [...new Set(sums.map(({ channelId }) => channelId))])
      return success(siteMonth(month, sums, names))
    },
  })
}

function siteMonth(
  month: string,
  sums: readonly SiteSum[],
  names: ReadonlyMap<number, string>,
): SiteMonth {
  const sumWhere = (isCounted: (sum: SiteSum) => boolean): number =>
    Number(sums.filter(isCounted).reduce((sum, { amount }) => sum + amount, 0n))
  const of = (...types: readonly string[]): number => sumWhere(({ type }) => types.includes(type))
  const adjusted = sumWhere(({ type, reason }) => type === 'grant' && reason === 'admin')
  const granted = of('grant')
  const charges = sums.filter(({ type }) => type === 'call' || type === 'correction')
  return {
    month,
    ...{ sold: of('order'), granted, gifts: granted - adjusted, adjusted },
    ...{ deducted: of('deduction'), redeemed: of('redemption'), refunded: of('refund') },
    ...{ checked_in: of('check_in'), transferred: of('transfer'), rebates_returned: of('rebate') },
    charged: of('call', 'correction'),
    by_type: sumsBy(
      sums,
      ({ type, reason }) => `${type} ${reason}`,
      (key) => {
        const [type = '', ...reason] = key.split(' ')
        return { type, reason: reason.join(' ') }
      },
    ),
    by_channel: sumsBy(
      charges,
      ({ channelId }) => channelId,
      (id) => ({ channel_id: id, channel_name: names.get(id) ?? '' }),
    ),
    by_model: sumsBy(
      charges,
      ({ model }) => model,
      (model) => ({ model }),
    ),
  }
}

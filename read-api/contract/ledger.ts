import Type, { type Static } from 'typebox'
import type { MovementType } from './ledger-movement-types.ts'
import { Envelope, Query } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * The quota of an account. `total` is the sum of `balance`, which the user can spend, and `held`,
 * which open calls have set aside. The last two are null after events of earlier versions.
 */
const Figures = Type.Object({
  total: Type.Integer(),
  balance: nullable(Type.Integer()),
  held: nullable(Type.Integer()),
})

/** One change of an account's total, with the figures after it. */
export const LedgerItem = Type.Object({
  position: Type.Integer(),
  /** The revision of the event in the account's stream. */
  revision: Type.Integer(),
  /** The time of the movement in Unix seconds. */
  created_at: Type.Integer(),
  type: Type.Unsafe<MovementType>(Type.String()),
  /** The id of the call, grant, deduction, order, transfer or correction, or the day. */
  source: Type.String(),
  amount: Type.Integer(),
  total: Type.Integer(),
  balance: nullable(Type.Integer()),
  held: nullable(Type.Integer()),
  /** The user who made the movement, or 0 for the site itself. */
  actor_id: Type.Integer(),
  /** A code, such as `admin` or the payment provider. */
  reason: Type.String(),
  /** The reason that an admin wrote, or an empty text. */
  note: Type.String(),
  /** Whether there was such a reason that became unreadable, because its user was erased. */
  is_note_erased: Type.Boolean(),
  model: Type.String(),
  token_id: Type.Integer(),
  /** 0 for users, who do not see channels. */
  channel_id: Type.Integer(),
  /** For a correction: the number of its calls, see `…/corrections/:position`. 0 otherwise. */
  corrected_calls: Type.Integer(),
})
export type LedgerItem = Static<typeof LedgerItem>

/** The calls whose charges one movement of the type `correction` changed. */
const CorrectedCalls = Type.Object({
  correction_id: Type.String(),
  created_at: Type.Integer(),
  requested_by: Type.Object({ id: Type.Integer(), name: Type.String() }),
  reason: Type.String(),
  calls: Type.Array(
    Type.Object({
      request_id: Type.String(),
      /** The charge before and after the correction, and their difference. */
      charge: Type.Integer(),
      corrected: Type.Integer(),
      amount: Type.Integer(),
      unpaid: Type.Integer(),
    }),
  ),
})
export type CorrectedCalls = Static<typeof CorrectedCalls>

const LedgerPage = Type.Object({
  /** The figures at the start and at the end of the period, or now, with the holds as of then. */
  opening: Figures,
  closing: Figures,
  /** The movements, newest first. */
  items: Type.Array(LedgerItem),
  next_cursor: nullable(Type.Integer()),
})
export type LedgerPage = Static<typeof LedgerPage>

/** The ledger of a user, as auditors read it. */
const UserLedgerPage = Type.Object({ ...LedgerPage.properties, username: Type.String() })
export type UserLedgerPage = Static<typeof UserLedgerPage>

const LedgerSum = Type.Object({ count: Type.Integer(), amount: Type.Integer() })

const Statement = Type.Object({
  user_id: Type.Integer(),
  username: Type.String(),
  month: Type.String(),
  opening: Figures,
  closing: Figures,
  by_type: Type.Array(Type.Intersect([Type.Object({ type: Type.String() }), LedgerSum])),
  by_model: Type.Array(Type.Intersect([Type.Object({ model: Type.String() }), LedgerSum])),
  /** `day` is the start of the UTC day in Unix seconds. */
  by_day: Type.Array(Type.Intersect([Type.Object({ day: Type.Integer() }), LedgerSum])),
  /** The calls by day and model, in this order. */
  calls: Type.Array(
    Type.Intersect([Type.Object({ day: Type.Integer(), model: Type.String() }), LedgerSum]),
  ),
  /** The movements of this page of the month, newest first. The sums include all pages. */
  items: Type.Array(LedgerItem),
  next_cursor: nullable(Type.Integer()),
})
export type Statement = Static<typeof Statement>

/**
 * The sums of all accounts in a month. Charges are negative, as in the ledgers. `charged`,
 * `by_channel` and `by_model` contain corrections of charges.
 */
const SiteMonth = Type.Object({
  month: Type.String(),
  sold: Type.Integer(),
  /**
   * All grants. `gifts` are those of the setup, to new users and to invited users. `adjusted` are
   * those by admins.
   */
  granted: Type.Integer(),
  gifts: Type.Integer(),
  adjusted: Type.Integer(),
  /** The quota that admins deducted, as a negative amount. */
  deducted: Type.Integer(),
  redeemed: Type.Integer(),
  refunded: Type.Integer(),
  /**
   * The quota that users received for daily check-ins, and the quota that they transferred from
   * their rewards.
   */
  checked_in: Type.Integer(),
  transferred: Type.Integer(),
  /** Rebates for refunded top-ups that were taken back from balances, negative. */
  rebates_returned: Type.Integer(),
  charged: Type.Integer(),
  by_type: Type.Array(
    Type.Intersect([Type.Object({ type: Type.String(), reason: Type.String() }), LedgerSum]),
  ),
  /** The name is empty for an unknown channel, and the id is 0 for charges without a channel. */
  by_channel: Type.Array(
    Type.Intersect([
      Type.Object({ channel_id: Type.Integer(), channel_name: Type.String() }),
      LedgerSum,
    ]),
  ),
  by_model: Type.Array(Type.Intersect([Type.Object({ model: Type.String() }), LedgerSum])),
})
export type SiteMonth = Static<typeof SiteMonth>

const BalanceAt = Type.Object({
  /** The position and the time (Unix seconds) of the account's last event at that moment. */
  position: Type.Integer(),
  at: Type.Integer(),
  total: Type.Integer(),
  balance: Type.Integer(),
  held: Type.Integer(),
})
export type BalanceAt = Static<typeof BalanceAt>

const Period = { from: Query.integer, to: Query.integer, types: Query.text }
const LedgerQuery = Type.Object({ ...Period, cursor: Query.integer, limit: Query.integer })
const ExportQuery = Type.Object({
  ...Period,
  format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('ndjson')])),
})
const MonthQuery = Type.Object({ month: Type.String({ pattern: '^2[0-9]{3}-(0[1-9]|1[0-2])$' }) })
const StatementQuery = Type.Object({
  ...MonthQuery.properties,
  ...{ cursor: Query.integer, limit: Query.integer },
})
const UserParams = Type.Object({ userId: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })
const position = Type.String({ pattern: '^[1-9][0-9]{0,14}$' })
const AtQuery = Type.Object({ at: Type.Optional(Type.String({ maxLength: 40 })) })

export type LedgerQuery = Static<typeof LedgerQuery>
export type StatementQuery = Static<typeof StatementQuery>
export type LedgerExportQuery = Static<typeof ExportQuery>

const statement = { querystring: StatementQuery, response: { 200: Envelope(Statement) } }
const balance = { querystring: AtQuery, response: { 200: Envelope(BalanceAt) } }

export const ledgerQueries = {
  'GET /api/ledger/self': {
    querystring: LedgerQuery,
    response: { 200: Envelope(LedgerPage) },
  },
  'GET /api/audit/ledger/:userId': {
    params: UserParams,
    querystring: LedgerQuery,
    response: { 200: Envelope(UserLedgerPage) },
  },
  /** `position` is that of the movement. It has at most a hundred calls. */
  'GET /api/ledger/self/corrections/:position': {
    params: Type.Object({ position }),
    response: { 200: Envelope(CorrectedCalls) },
  },
  'GET /api/audit/ledger/:userId/corrections/:position': {
    params: Type.Object({ ...UserParams.properties, position }),
    response: { 200: Envelope(CorrectedCalls) },
  },
  'GET /api/ledger/self/export': { querystring: ExportQuery },
  'GET /api/audit/ledger/:userId/export': { querystring: ExportQuery, params: UserParams },
  'GET /api/ledger/self/statement': statement,
  'GET /api/audit/statement/:userId': { ...statement, params: UserParams },
  'GET /api/ledger/self/balance': balance,
  'GET /api/audit/balance/:userId': { ...balance, params: UserParams },
  'GET /api/audit/site-month': {
    querystring: MonthQuery,
    response: { 200: Envelope(SiteMonth) },
  },
}

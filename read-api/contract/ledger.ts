import Type, { type Static } from 'typebox'
import type { MovementType } from './ledger-movement-types.ts'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * The quota of an account. `balance` is the quota that the user can spend. `held` is the quota that
 * open calls have set aside. `total` is the sum of both. After an event of an old version,
 * `balance` and `held` are null, because old versions did not record these figures.
 */
const Figures = Type.Object({
  total: Type.Integer(),
  balance: nullable(Type.Integer()),
  held: nullable(Type.Integer()),
})

/**
 * A ledger entry: one change of an account's total. `total`, `balance` and `held` are the account's
 * figures after the change.
 */
export const LedgerItem = Type.Object({
  position: Type.Integer(),
  /** The revision of the recorded event in the account's stream. */
  revision: Type.Integer(),
  /** The time of the change in Unix seconds. */
  created_at: Type.Integer(),
  type: Type.Unsafe<MovementType>(Type.String()),
  /**
   * The cause of the change: the id of the call, grant, deduction, order, transfer or correction.
   * For a daily check-in: the day.
   */
  source: Type.String(),
  amount: Type.Integer(),
  total: Type.Integer(),
  balance: nullable(Type.Integer()),
  held: nullable(Type.Integer()),
  /** The user who caused the change, or 0 for the site itself. */
  actor_id: Type.Integer(),
  /**
   * The name of this user. Empty for the site itself, for an erased user, and if the owner of the
   * ledger reads the ledger.
   */
  actor_name: Type.String(),
  /** A code that says more about the cause, such as `admin` or the name of the payment provider. */
  reason: Type.String(),
  /** The reason that an admin wrote, or an empty text. */
  note: Type.String(),
  /**
   * True if an admin wrote a reason that can no longer be read, because a user's data was erased.
   */
  is_note_erased: Type.Boolean(),
  model: Type.String(),
  token_id: Type.Integer(),
  /** The channel of the call. 0 for the owner of the ledger, who does not see channels. */
  channel_id: Type.Integer(),
  /**
   * For a correction: the number of corrected calls. `…/corrections/:position` lists these calls. 0
   * for all other entries.
   */
  corrected_calls: Type.Integer(),
})
export type LedgerItem = Static<typeof LedgerItem>

/** The calls whose charges one ledger entry of the type `correction` changed. */
const CorrectedCalls = Type.Object({
  correction_id: Type.String(),
  created_at: Type.Integer(),
  requested_by: Type.Object({ id: Type.Integer(), name: Type.String() }),
  reason: Type.String(),
  calls: Type.Array(
    Type.Object({
      request_id: Type.String(),
      /**
       * `charge` is the charge before the correction, and `corrected` the charge after it. `amount`
       * is the difference.
       */
      charge: Type.Integer(),
      corrected: Type.Integer(),
      amount: Type.Integer(),
      unpaid: Type.Integer(),
    }),
  ),
})
export type CorrectedCalls = Static<typeof CorrectedCalls>

const LedgerPage = Type.Object({
  /**
   * The account's quota at the start of the period. `closing` is the quota at the end. Both include
   * the holds that were open at these times. A period without an end lasts until now.
   */
  opening: Figures,
  closing: Figures,
  /** The entries, newest first. */
  items: Type.Array(LedgerItem),
  next_cursor: nullable(Type.Integer()),
})
export type LedgerPage = Static<typeof LedgerPage>

/** The ledger of a user, for auditors. The name of an erased user is empty. */
const UserLedgerPage = Type.Object({ ...LedgerPage.properties, username: Type.String() })
export type UserLedgerPage = Static<typeof UserLedgerPage>

/** An account in the list of all accounts. The name of an erased user is empty. */
const Account = Type.Object({
  user_id: Type.Integer(),
  username: Type.String(),
  total: Type.Integer(),
  balance: Type.Integer(),
  held: Type.Integer(),
})
export type Account = Static<typeof Account>

const Accounts = Type.Object({
  /** The accounts. The accounts of the newest users come first. */
  items: Type.Array(Account),
  next_cursor: nullable(Type.Integer()),
})

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
  /** The charges of calls by day and model, sorted by day and then by model. */
  calls: Type.Array(
    Type.Intersect([Type.Object({ day: Type.Integer(), model: Type.String() }), LedgerSum]),
  ),
  /** One page of the month's entries, newest first. The sums cover the whole month. */
  items: Type.Array(LedgerItem),
  next_cursor: nullable(Type.Integer()),
})
export type Statement = Static<typeof Statement>

/**
 * The sums over all accounts in a month. Charges are negative, as in the ledgers. `charged`,
 * `by_channel` and `by_model` include corrections of charges.
 */
const SiteMonth = Type.Object({
  month: Type.String(),
  sold: Type.Integer(),
  /**
   * The quota of all grants. `gifts` are the grants by the site itself: at setup, to new users and
   * to invited users. `adjusted` are the grants by admins.
   */
  granted: Type.Integer(),
  gifts: Type.Integer(),
  adjusted: Type.Integer(),
  /** The quota that admins deducted, as a negative amount. */
  deducted: Type.Integer(),
  redeemed: Type.Integer(),
  refunded: Type.Integer(),
  /**
   * The quota that users received for daily check-ins. `transferred` is the quota that users moved
   * from their invitation rewards to their balance.
   */
  checked_in: Type.Integer(),
  transferred: Type.Integer(),
  /** Rebates that the site took back because the top-up was refunded, as a negative amount. */
  rebates_returned: Type.Integer(),
  charged: Type.Integer(),
  by_type: Type.Array(
    Type.Intersect([Type.Object({ type: Type.String(), reason: Type.String() }), LedgerSum]),
  ),
  /**
   * The charges by channel. `channel_name` is empty if the channel is unknown. `channel_id` is 0
   * for charges without a channel.
   */
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
  /**
   * The position of the account's last event up to the requested moment. 0 if there is no event.
   */
  position: Type.Integer(),
  /** The time of the event at `position`, in Unix seconds. 0 if there is no event. */
  at: Type.Integer(),
  total: Type.Integer(),
  balance: Type.Integer(),
  held: Type.Integer(),
})
export type BalanceAt = Static<typeof BalanceAt>

/** A position of the event log or an ISO 8601 time with a time zone. */
const moment = Type.Optional(Type.String({ maxLength: 40 }))

/**
 * With `at`, the ledger ends at this moment. No later entries are listed, and the closing figures
 * are the figures of this moment.
 */
const Period = { from: Query.integer, to: Query.integer, types: Query.text, at: moment }
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
const AtQuery = Type.Object({ at: moment })

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
  /** `position` is the position of the ledger entry. One entry corrects at most a hundred calls. */
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
  /** `search` is a user id or a part of a username. */
  'GET /api/audit/accounts': {
    querystring: Type.Object({ search: Query.text, cursor: Query.integer, limit: Query.integer }),
    response: { 200: Envelope(Accounts) },
  },
  'GET /api/audit/site-month': {
    querystring: MonthQuery,
    response: { 200: Envelope(SiteMonth) },
  },
}

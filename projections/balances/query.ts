import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { quota, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const account = rowType({
  userId: wireInteger,
  /** The quota that the user can spend, without the quota held for open calls. */
  balance: quota,
  held: quota,
  usedQuota: quota,
  requestCount: wireInteger,
  /**
   * Rewards for invitations that are not yet transferred to the balance. `affHistoryQuota` is the
   * sum of all rewards so far, less reversed rebates. `affCount` is the number of invited users.
   */
  affQuota: quota,
  affHistoryQuota: quota,
  affCount: wireInteger,
  /** The UTC date of the last check-in, such as `2026-11-22`, or empty. */
  checkInDay: Type.String(),
})
export type Account = RowOf<typeof account>

/** Reads the accounts of the given users. Users without account events are omitted. */
export async function accountsOf(
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<Map<number, Account>> {
  const rows = await db.any(sql.type(account)`
    select user_id as "userId", balance, held, used_quota as "usedQuota",
      request_count as "requestCount", aff_quota as "affQuota",
      aff_history_quota as "affHistoryQuota", aff_count as "affCount",
      check_in_day as "checkInDay"
    from read_balances.accounts where user_id = any(${sql.array(userIds, 'int8')})
  `)
  return new Map(rows.map((row) => [row.userId, row]))
}

const tokenBudget = rowType({
  tokenId: wireInteger,
  /** The quota that the token can spend, without the quota held for open calls. */
  remain: quota,
  held: quota,
  isUnlimited: Type.Boolean(),
  usedQuota: quota,
  /** The time of the token's last call in Unix seconds, or 0. */
  accessedAt: wireInteger,
  /** The number of edits of the budget. Calls are not counted. */
  edits: wireInteger,
})
export type TokenBudget = RowOf<typeof tokenBudget>

export async function budgetsOf(
  db: CommonQueryMethods,
  tokenIds: readonly number[],
): Promise<Map<number, TokenBudget>> {
  const rows = await db.any(sql.type(tokenBudget)`
    select token_id as "tokenId", remain, held, is_unlimited as "isUnlimited",
      used_quota as "usedQuota", accessed_at as "accessedAt", edits
    from read_balances.token_budgets where token_id = any(${sql.array(tokenIds, 'int8')})
  `)
  return new Map(rows.map((row) => [row.tokenId, row]))
}

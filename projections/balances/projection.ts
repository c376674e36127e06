import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  AccountEvent,
  CallAdmitted,
  CallFacts,
  CallInterrupted,
  CallReleased,
  CallSettled,
  HoldRaised,
  Posting,
  RebateEarned,
  RebateReversed,
  TopUpCredited,
  TopUpReversed,
} from '#domain/accounts/events.ts'
import { isPlayground } from '#domain/shared/playground-token-id.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

type Ended = CallFacts & { readonly hold: number; readonly charge?: number }

type TopUpFact = TopUpCredited | TopUpReversed | RebateEarned | RebateReversed

const topUps: Handlers<TopUpFact> = {
  TopUpCredited: ({ data }, rows) => post(data.postings, rows),
  TopUpReversed: ({ data }, rows) => post(data.postings, rows),
  RebateEarned: ({ data }, rows) => {
    post(data.postings, rows)
    const earned = { aff_history_quota: fromWire(data.amount) }
    rows.add('accounts', { user_id: data.userId }, earned)
  },
  RebateReversed: ({ data }, rows) => {
    post(data.postings, rows)
    const lost = { aff_history_quota: -fromWire(data.amount) }
    rows.add('accounts', { user_id: data.userId }, lost)
  },
}

const calls: Handlers<CallAdmitted | HoldRaised | CallSettled | CallReleased | CallInterrupted> = {
  CallAdmitted: ({ data, meta }, rows) => {
    post(data.postings, rows)
    if (isPlayground(data.tokenId)) return
    rows.add(
      'token_budgets',
      { token_id: data.tokenId },
      { remain: -fromWire(data.hold), held: fromWire(data.hold) },
      { user_id: data.userId, accessed_at: secondsOf(meta.at) },
    )
  },
  HoldRaised: ({ data }, rows) => {
    post(data.postings, rows)
    if (isPlayground(data.tokenId)) return
    const added = fromWire(data.added)
    const cells = { user_id: data.userId }
    rows.add('token_budgets', { token_id: data.tokenId }, { remain: -added, held: added }, cells)
  },
  CallSettled: ({ data }, rows) => end(data, data.postings, rows),
  CallReleased: ({ data }, rows) => end(data, data.postings, rows),
  CallInterrupted: ({ data }, rows) => end(data, data.postings, rows),
}

/**
 * The quotas of each account and the budget of each token. Balances are sums of the ledger postings
 * in the account's events.
 */
export const balances = projectionOf<Exclude<AccountEvent, { type: 'CallProgressed' }>>({
  name: 'balances',
  version: 8,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { accounts: { key: ['user_id'] }, token_budgets: { key: ['token_id'] } },
  handlers: {
    QuotaGranted: ({ data }, rows) => post(data.postings, rows),
    QuotaDeducted: ({ data }, rows) => post(data.postings, rows),
    InviteRewarded: ({ data }, rows) => {
      post(data.postings, rows)
      const gained = { aff_history_quota: fromWire(data.reward), aff_count: 1n }
      rows.add('accounts', { user_id: data.userId }, gained)
    },
    AffiliateTransferred: ({ data }, rows) => post(data.postings, rows),
    CheckedIn: ({ data }, rows) => {
      post(data.postings, rows)
      rows.add('accounts', { user_id: data.userId }, {}, { check_in_day: data.day })
    },
    ...topUps,
    TokenBudgetSet: ({ data, position }, rows) =>
      rows.add(
        'token_budgets',
        { token_id: data.tokenId },
        { edits: 1n },
        {
          user_id: data.userId,
          remain: data.remain,
          is_unlimited: data.isUnlimited,
          is_closed: false,
          set_position: position,
        },
      ),
    TokenBudgetsOpened: ({ data: { tokenIds, userId, remain, isUnlimited } }, rows) => {
      const budget = { remain, is_unlimited: isUnlimited, is_closed: false, edits: 0 }
      const cells = { user_id: userId, ...budget }
      for (const id of tokenIds) rows.put('token_budgets', { token_id: id }, cells)
    },
    TokenBudgetsClosed: ({ data }, rows) => {
      for (const id of data.tokenIds) {
        rows.patch('token_budgets', { token_id: id }, { is_closed: true })
      }
    },
    TokenBudgetClosed: ({ data }, rows) =>
      rows.patch('token_budgets', { token_id: data.tokenId }, { is_closed: true }),
    ...calls,
    ChargeCorrected: ({ data }, rows) => {
      post(data.postings, rows)
      const { userId: user_id, amount, budgets } = data
      rows.add('accounts', { user_id }, { used_quota: fromWire(amount) })
      for (const { tokenId, charge, corrected } of data.calls) {
        if (isPlayground(tokenId)) continue
        const used_quota = fromWire(corrected) - fromWire(charge)
        rows.add('token_budgets', { token_id: tokenId }, { used_quota }, { user_id })
      }
      for (const [token_id, remain] of budgets) {
        rows.add('token_budgets', { token_id }, { remain: fromWire(remain) }, { user_id })
      }
    },
  },
})

const COLUMNS = new Map([
  ['main', 'balance'],
  ['held', 'held'],
  ['aff', 'aff_quota'],
])

function post(postings: readonly Posting[], rows: RowChanges): void {
  for (const [account, amount] of postings) {
    const [, userId, pocket] = /^user:(\d+):(main|held|aff)$/.exec(account) ?? []
    if (userId === undefined) continue
    const column = COLUMNS.get(pocket ?? '') ?? ''
    rows.add('accounts', { user_id: Number(userId) }, { [column]: fromWire(amount) })
  }
}

/**
 * Applies the postings of an ended call and adds the charge to the used quota. A call that was
 * released at no cost is not counted as a request.
 */
function end(call: Ended, postings: readonly Posting[], rows: RowChanges): void {
  post(postings, rows)
  const charge = fromWire(call.charge ?? 0)
  const hold = fromWire(call.hold)
  if (!isPlayground(call.tokenId)) {
    rows.add(
      'token_budgets',
      { token_id: call.tokenId },
      { remain: hold - charge, held: -hold, used_quota: charge },
      { user_id: call.userId },
    )
  }
  if (call.charge === undefined) return
  rows.add('accounts', { user_id: call.userId }, { used_quota: charge, request_count: 1n })
}

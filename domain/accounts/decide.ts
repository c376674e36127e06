import { codedError, isCodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { isInRange, QUOTA_MAX, type Quota, toWire } from '../shared/quota.ts'
import type {
  AccountCommand,
  AccountError,
  DeductQuota,
  GrantQuota,
  OpenTokenBudgets,
  SetBalance,
  SetTokenBudget,
} from './commands.ts'
import {
  admitCall,
  interruptCall,
  raiseHold,
  recordProgress,
  releaseCall,
  settleCall,
} from './decide-call.ts'
import { correctCharges } from './decide-correction.ts'
import {
  checkIn,
  creditTopUp,
  earnRebate,
  fitsBalance,
  reverseRebate,
  reverseTopUp,
  rewardInvite,
  transferAffiliate,
} from './decide-top-ups-and-rewards.ts'
import type { AccountEvent } from './events.ts'
import { evolveAccount } from './evolve.ts'
import { addBalancesAfter, deductionPostings, grantPostings } from './ledger-postings.ts'
import { accountSnapshot } from './snapshot.ts'
import { type AccountState, initialAccount } from './state.ts'
import { undoAccount } from './undo-event-after-failed-append.ts'

type Outcome = readonly AccountEvent[] | AccountError

export const accountDecider: Decider<AccountState, AccountCommand, AccountEvent, AccountError> = {
  initialState: initialAccount,
  evolve: evolveAccount,
  undo: undoAccount,
  snapshot: accountSnapshot,
  decide: (command, state) => {
    const outcome = decideCommand(command, state)
    if (!isCodedError(outcome)) addBalancesAfter(outcome, state)
    return outcome
  },
}

function decideCommand(command: AccountCommand, state: AccountState): Outcome {
  switch (command.type) {
    case 'GrantQuota':
      return grantQuota(command, state)
    case 'DeductQuota':
      return deductQuota(command, state)
    case 'SetBalance':
      return setBalance(command, state)
    case 'RewardInvite':
      return rewardInvite(command, state)
    case 'TransferAffiliate':
      return transferAffiliate(command, state)
    case 'CheckIn':
      return checkIn(command, state)
    case 'CreditTopUp':
      return creditTopUp(command, state)
    case 'ReverseTopUp':
      return reverseTopUp(command, state)
    case 'EarnRebate':
      return earnRebate(command, state)
    case 'ReverseRebate':
      return reverseRebate(command, state)
    case 'SetTokenBudget':
      return setTokenBudget(command, state)
    case 'OpenTokenBudgets':
      return openTokenBudgets(command, state)
    case 'CloseTokenBudgets': {
      const { userId } = command
      const tokenIds = command.tokenIds.filter((tokenId) => state.budgets.has(tokenId))
      if (tokenIds.length === 0) return []
      return [{ type: 'TokenBudgetsClosed', v: 1, data: { userId, tokenIds } }]
    }
    case 'AdmitCall':
      return admitCall(command, state)
    case 'RecordProgress':
      return recordProgress(command, state)
    case 'RaiseHold':
      return raiseHold(command, state)
    case 'SettleCall':
      return settleCall(command, state)
    case 'ReleaseCall':
      return releaseCall(command, state)
    case 'InterruptCall':
      return interruptCall(command, state)
    case 'CorrectCharges':
      return correctCharges(command, state)
  }
}

function grantQuota(command: GrantQuota, state: AccountState): Outcome {
  const { userId, grantId, amount, reason } = command
  if (state.grantIds.has(grantId)) return []
  if (amount <= 0n || !fitsBalance(amount, state)) return codedError('AmountOutOfRange')
  const postings = grantPostings(userId, amount, reason)
  const data = { userId, grantId, amount: toWire(amount), reason, ...noteOf(command), postings }
  return [{ type: 'QuotaGranted', v: 1, data }]
}

function deductQuota(command: DeductQuota, state: AccountState): Outcome {
  const { userId, deductionId, amount, reason } = command
  if (state.deductionIds.has(deductionId)) return []
  if (amount <= 0n || amount > QUOTA_MAX) return codedError('AmountOutOfRange')
  if (amount > state.balance) {
    return codedError('InsufficientQuota', {
      balance: String(state.balance),
      needed: String(amount),
    })
  }
  const postings = deductionPostings(userId, amount)
  const ids = { userId, deductionId }
  const data = { ...ids, amount: toWire(amount), reason, ...noteOf(command), postings }
  return [{ type: 'QuotaDeducted', v: 1, data }]
}

/**
 * Grants or deducts the difference between the new and the current balance. The current balance is
 * read at the time of the append, so that no simultaneous payment is lost.
 */
function setBalance(command: SetBalance, state: AccountState): Outcome {
  const { userId, adjustmentId, balance, expected, note } = command
  if (state.grantIds.has(adjustmentId) || state.deductionIds.has(adjustmentId)) return []
  if (expected !== undefined && expected !== state.balance) {
    const params = { balance: String(state.balance), expected: String(expected) }
    return codedError('BalanceMoved', params)
  }
  const change = balance - state.balance
  if (change === 0n) return []
  if (balance < 0n) return codedError('AmountOutOfRange')
  const rest = { userId, reason: 'admin', ...(note === undefined ? {} : { note }) } as const
  return change > 0n
    ? grantQuota({ type: 'GrantQuota', grantId: adjustmentId, amount: change, ...rest }, state)
    : deductQuota(
        { type: 'DeductQuota', deductionId: adjustmentId, amount: -change, ...rest },
        state,
      )
}

const noteOf = ({ note }: GrantQuota | DeductQuota) => (note === undefined ? {} : { note })

function setTokenBudget(command: SetTokenBudget, state: AccountState): Outcome {
  const { userId, tokenId, expected, edits } = command
  const budget = state.budgets.get(tokenId)
  const remainNow = budget?.remain ?? 0n
  const isStale =
    edits === undefined
      ? expected !== undefined && expected !== remainNow
      : edits !== (budget?.edits ?? 0)
  if (isStale) {
    const params = { remain: String(remainNow), expected: String(expected ?? remainNow) }
    return codedError('TokenBudgetMoved', params)
  }
  const remain = remainAfter(command, remainNow)
  const { isUnlimited = budget?.isUnlimited ?? false } = command
  // NOTE: open calls may return their holds to the budget, so `remain` plus these holds must be in
  // range, too. `remain` can be negative if a call cost more than its hold.
  const unspent = remain + heldBy(tokenId, state)
  if (!isInRange(remain) || !isInRange(unspent)) return codedError('AmountOutOfRange')
  if (budget?.remain === remain && budget.isUnlimited === isUnlimited) return []
  // If the owner set a budget above 0 and open calls hold all of it, these calls may continue. If
  // `remain` is negative, these calls could cost more than the budget, so they must end.
  const isHeldByCalls = remain === 0n && unspent > 0n && (command.remain ?? 0n) > 0n
  // If one call overspends the budget, the other open calls continue. These calls also continue if
  // the owner raises the overspent budget and `remain` is still 0 or below.
  const isRaise = remain > remainNow && budget?.isUnlimited === false && budget.emptiedAt === 0
  const isKeeping = (isHeldByCalls || (isRaise && remain <= 0n)) && !isUnlimited
  const keepsCalls = isKeeping ? { keepsCalls: true as const } : {}
  const data = { userId, tokenId, remain: toWire(remain), isUnlimited, ...keepsCalls }
  return [{ type: 'TokenBudgetSet', v: 1, data }]
}

/**
 * Returns the token's new remaining quota. If the owner lowers the budget, the result is at most
 * `remain`, even if calls have returned holds since the owner read the budget.
 */
function remainAfter({ remain, expected }: SetTokenBudget, remainNow: Quota): Quota {
  if (remain === undefined) return remainNow
  if (expected === undefined) return remain
  const changed = remainNow + remain - expected
  return remain < expected && changed > remain ? remain : changed
}

/** Sets the budgets of those tokens that do not have a budget yet. */
function openTokenBudgets(command: OpenTokenBudgets, state: AccountState): Outcome {
  const { userId, remain, isUnlimited } = command
  const tokenIds = command.tokenIds.filter((tokenId) => !state.budgets.has(tokenId))
  if (tokenIds.length === 0) return []
  // NOTE: a token may have had an earlier budget that was closed. Its calls that are still open
  // return unused holds to the new budget.
  if (tokenIds.some((id) => !isInRange(remain) || !isInRange(remain + heldBy(id, state)))) {
    return codedError('AmountOutOfRange')
  }
  const data = { userId, tokenIds, remain: toWire(remain), isUnlimited }
  return [{ type: 'TokenBudgetsOpened', v: 1, data }]
}

/** Returns the quota that the open calls of a token hold. */
export const heldBy = (tokenId: number, { open }: AccountState): Quota =>
  [...open.values()].reduce(
    (held, { facts, hold }) => (facts.tokenId === tokenId ? held + hold : held),
    0n,
  )

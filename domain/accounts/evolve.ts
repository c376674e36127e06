import { assert } from '../shared/assert.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import { correctionBatchId, rebateId, topUpId } from './build-deduplication-ids.ts'
import type {
  AccountEvent,
  CallAdmitted,
  CallFacts,
  CallProgressed,
  ChargeCorrected,
  HoldRaised,
  RebateEarned,
  RebateReversed,
  TopUpCredited,
  TopUpReversed,
} from './events.ts'
import { type AccountState, addEndedCall, type OpenCall } from './state.ts'

/** Applies an event to `state` in place. */
export function evolveAccount(state: AccountState, event: AccountEvent): AccountState {
  const evolved = fold(state, event)
  const hasFreeQuota = evolved.balance > 0n
  if (isDebit(event) && !hasFreeQuota) evolved.emptiedAt = evolved.admissions
  else if (isCredit(event) && hasFreeQuota) evolved.emptiedAt = 0
  return evolved
}

const DEBITS: ReadonlySet<AccountEvent['type']> = new Set(['QuotaDeducted', 'TopUpReversed'])
const CREDITS: ReadonlySet<AccountEvent['type']> = new Set([
  'QuotaGranted',
  'AffiliateTransferred',
  'CheckedIn',
  'TopUpCredited',
])

const isDebit = (event: AccountEvent): boolean =>
  event.type === 'ChargeCorrected' ? event.data.amount > 0 : DEBITS.has(event.type)

const isCredit = (event: AccountEvent): boolean =>
  event.type === 'ChargeCorrected' ? event.data.amount < 0 : CREDITS.has(event.type)

function fold(state: AccountState, event: AccountEvent): AccountState {
  switch (event.type) {
    case 'QuotaGranted':
      state.balance += fromWire(event.data.amount)
      state.grantIds.add(event.data.grantId)
      return state
    case 'QuotaDeducted':
      state.balance -= fromWire(event.data.amount)
      state.deductionIds.add(event.data.deductionId)
      return state
    case 'InviteRewarded':
      state.affiliate += fromWire(event.data.reward)
      state.inviteeIds.add(event.data.inviteeId)
      return state
    case 'AffiliateTransferred':
      state.affiliate -= fromWire(event.data.amount)
      state.balance += fromWire(event.data.amount)
      state.transferIds.add(event.data.transferId)
      return state
    case 'CheckedIn':
      state.balance += fromWire(event.data.amount)
      state.checkInDay = event.data.day
      return state
    case 'TokenBudgetSet': {
      const { tokenId, isUnlimited, keepsCalls = false } = event.data
      const remain = fromWire(event.data.remain)
      const emptiedAt = isUnlimited || remain > 0n || keepsCalls ? 0 : state.admissions
      const edits = (state.budgets.get(tokenId)?.edits ?? 0) + 1
      state.budgets.set(tokenId, { remain, isUnlimited, emptiedAt, edits })
      return state
    }
    case 'TokenBudgetsOpened': {
      const { tokenIds, isUnlimited } = event.data
      const remain = fromWire(event.data.remain)
      const budget = { remain, isUnlimited, emptiedAt: 0, edits: 0 }
      for (const id of tokenIds) state.budgets.set(id, { ...budget })
      return state
    }
    case 'TokenBudgetsClosed':
      for (const tokenId of event.data.tokenIds) state.budgets.delete(tokenId)
      return state
    case 'TokenBudgetClosed':
      state.budgets.delete(event.data.tokenId)
      return state
    case 'CallAdmitted':
      return admit(state, event.data)
    case 'CallProgressed':
      return recordProgress(state, event.data)
    case 'HoldRaised':
      return raise(state, event.data)
    case 'CallSettled':
    case 'CallInterrupted':
      return end(state, event.data, fromWire(event.data.charge))
    case 'CallReleased':
      return end(state, event.data, 0n)
    default:
      return applyAmount(state, event)
  }
}

function correct(state: AccountState, data: ChargeCorrected['data']): AccountState {
  state.balance -= fromWire(data.amount)
  state.deductionIds.add(correctionBatchId(data))
  for (const [tokenId, amount] of data.budgets) adjustTokenBudget(state, tokenId, fromWire(amount))
  return state
}

function recordProgress(state: AccountState, data: CallProgressed['data']): AccountState {
  const { call, userId, leaseUntil, ...progress } = data
  const open = state.open.get(call)
  assert(open !== undefined, () => `progress of ${call} was recorded, but the call is not open`)
  open.progress = progress
  open.leaseUntil = leaseUntil
  return state
}

type TopUpFact = TopUpCredited | TopUpReversed | RebateEarned | RebateReversed

function applyAmount(state: AccountState, event: TopUpFact | ChargeCorrected): AccountState {
  const amount = fromWire(event.data.amount)
  switch (event.type) {
    case 'TopUpCredited':
      state.balance += amount
      state.grantIds.add(topUpId(event.data))
      return state
    case 'TopUpReversed':
      state.balance -= amount
      state.deductionIds.add(topUpId(event.data))
      return state
    case 'RebateEarned':
      state.affiliate += amount
      state.grantIds.add(rebateId(event.data))
      return state
    case 'RebateReversed':
      return reverseRebate(state, event.data)
    case 'ChargeCorrected':
      return correct(state, event.data)
  }
}

function reverseRebate(state: AccountState, data: RebateReversed['data']): AccountState {
  const fromBalance = fromWire(data.fromBalance ?? 0)
  state.affiliate -= fromWire(data.amount) - fromBalance
  state.balance -= fromBalance
  state.deductionIds.add(rebateId(data))
  return state
}

function admit(state: AccountState, data: CallAdmitted['data']): AccountState {
  const { price, clientIp, leaseUntil } = data
  const hold = fromWire(data.hold)
  state.balance -= hold
  state.held += hold
  adjustTokenBudget(state, data.tokenId, -hold)
  const { startedAt } = data
  state.admissions += 1
  const { admissions: admission } = state
  const terms = { facts: factsOf(data), admission, hold, price, clientIp, startedAt }
  const open: Writable<OpenCall> = { ...terms, leaseUntil, progress: null }
  if (data.isTask === true) open.isTask = true
  if (data.stepOf !== undefined) open.stepOf = data.stepOf
  state.open.set(data.call, open)
  return state
}

function raise(state: AccountState, { call, tokenId, added }: HoldRaised['data']): AccountState {
  const open = state.open.get(call)
  assert(open !== undefined, () => `the hold of ${call} was raised, but the call is not open`)
  const amount = fromWire(added)
  open.hold += amount
  state.balance -= amount
  state.held += amount
  adjustTokenBudget(state, tokenId, -amount)
  return state
}

function end(state: AccountState, { call, tokenId }: CallFacts, charge: Quota): AccountState {
  const open = state.open.get(call)
  if (open === undefined) assert(false, `the end of ${call} was recorded, but the call is not open`)
  const { hold } = open
  const unused = hold - charge
  state.balance += unused
  state.held -= hold
  adjustTokenBudget(state, tokenId, unused)
  state.open.delete(call)
  addEndedCall(state.ended, call)
  return state
}

function adjustTokenBudget(state: AccountState, tokenId: number, amount: Quota): void {
  const budget = state.budgets.get(tokenId)
  if (budget !== undefined) budget.remain += amount
}

function factsOf(data: CallFacts): CallFacts {
  const { call, userId, tokenId, model, group, isStream, calls, reasoningEffort } = data
  const { outputLimit, batch } = data
  const facts: Writable<CallFacts> = { call, userId, tokenId, model, group, isStream }
  // Optional members are assigned one by one, because spreading objects would copy them for each
  // call.
  if (calls !== undefined) facts.calls = calls
  if (reasoningEffort !== undefined) facts.reasoningEffort = reasoningEffort
  if (outputLimit !== undefined) facts.outputLimit = outputLimit
  if (batch !== undefined) facts.batch = batch
  return facts
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

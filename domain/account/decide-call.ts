import {
  CALLS_MAX,
  chargeFor,
  costFor,
  hasUsage,
  isCallCount,
  isCountable,
} from '../pricing/charge.ts'
import { holdFor, outputTokensWithin } from '../pricing/hold.ts'
import type { DecimalText, PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import { NO_USAGE, type Usage } from '../pricing/usage.ts'
import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import { isPlayground } from '../shared/playground.ts'
import { isInRange, type Quota, toWire } from '../shared/quota.ts'
import { isSame } from '../shared/same.ts'
import type {
  AccountError,
  AdmitCall,
  InterruptCall,
  OutputReduction,
  RaiseHold,
  RecordProgress,
  ReleaseCall,
  SettleCall,
} from './commands.ts'
import type { AccountEvent, CallEnd, CallFacts } from './events.ts'
import { endPostings, holdPostings } from './postings.ts'
import { type AccountState, type OpenCall, recall } from './state.ts'

type Outcome = readonly AccountEvent[] | AccountError

/**
 * Holds the worst-case cost of the call, or that of a smaller output limit where no more can be
 * paid, or refuses the call. A repeat changes nothing, except that the repeat of a task's call is
 * refused, because no other event may rely on the hold of an earlier call. An id that is too old to
 * be recognised as a repeat is refused.
 */
export function admitCall(requested: AdmitCall, state: AccountState): Outcome {
  const { reduction, ...command } = reduced(requested, state)
  const { type, task, ...facts } = command
  const { call, hold, calls } = facts
  if (state.open.has(call)) return task === undefined ? [] : codedError('CallKnown')
  const memory = recall(state.ended, call)
  if (memory !== 'unknown') {
    return memory === 'ended' && task === undefined ? [] : codedError('CallEnded')
  }
  assert(calls === undefined || (isCallCount(calls) && calls > 0), `1 to ${CALLS_MAX} calls`)
  if (hold < 0n || !isInRange(hold)) return codedError('AmountOutOfRange')
  const unbudgeted = budgetRefusal(command, state)
  if (unbudgeted !== null) return unbudgeted
  const { balance } = state
  if (hold > balance || (task !== undefined && balance <= 0n)) {
    return codedError('InsufficientQuota', { balance: String(balance), needed: String(hold) })
  }
  if (task !== undefined && openTasks(state) >= task.openMax) {
    return codedError('TooManyTasks', { max: task.openMax })
  }
  const kind = task === undefined ? {} : { isTask: true as const }
  const postings = holdPostings(command.userId, hold)
  const data = { ...facts, ...kind, hold: toWire(hold), postings }
  return [{ type: 'CallAdmitted', v: 1, data }]
}

/** The call as it can be paid: unchanged, or with a smaller output limit and hold. */
function reduced(command: AdmitCall, state: AccountState): AdmitCall & { outputLimit?: number } {
  const { reduction, hold, price } = command
  const payable = payableBy(state, command.tokenId)
  if (reduction === undefined || hold <= payable || payable <= 0n) return command
  return { ...command, ...reduceOutput(price, reduction, payable) }
}

/** The quota that calls of the token can still hold. It may be negative. */
export function payableBy({ balance, budgets }: AccountState, tokenId: number): Quota {
  const budget = isPlayground(tokenId) ? undefined : budgets.get(tokenId)
  if (budget === undefined || budget.isUnlimited || budget.remain > balance) return balance
  return budget.remain
}

const openTasks = ({ open }: AccountState): number =>
  [...open.values()].filter(({ isTask }) => isTask === true).length

function budgetRefusal(
  { tokenId, hold }: AdmitCall,
  { budgets }: AccountState,
): AccountError | null {
  if (isPlayground(tokenId)) return null
  const budget = budgets.get(tokenId)
  if (budget === undefined) return codedError('TokenBudgetUnknown', { tokenId })
  if (budget.isUnlimited || hold <= budget.remain) return null
  return codedError('TokenBudgetExhausted', { remain: String(budget.remain), needed: String(hold) })
}

/**
 * Why the running call must end: its account was emptied by an admin or a refund, or the budget of
 * its token was set to 0 or below. Null while neither is so. A call that holds nothing costs
 * nothing, and the hold of a task is spent when the task is submitted, so that both go on.
 */
export function emptiedError(
  { facts, admission, hold, isTask }: OpenCall,
  { balance, emptiedAt, budgets }: AccountState,
): AccountError | null {
  if (hold === 0n || isTask !== undefined) return null
  if (admission <= emptiedAt) {
    return codedError('InsufficientQuota', { balance: String(balance), needed: '0' })
  }
  const budget = budgets.get(facts.tokenId)
  if (budget === undefined || admission > budget.emptiedAt) return null
  return codedError('TokenBudgetExhausted', { remain: String(budget.remain), needed: '0' })
}

/**
 * Records how far a running call got, which is charged if its owner dies. A repeat changes nothing.
 * It is refused, so that the relay ends the call, once `emptiedError` says so.
 */
export function recordProgress(command: RecordProgress, state: AccountState): Outcome {
  const { type, call, leaseUntil, ...progress } = command
  const open = state.open.get(call)
  if (open === undefined)
    return isOver(state, call) ? codedError('CallEnded') : codedError('CallUnknown')
  const emptied = emptiedError(open, state)
  if (emptied !== null) return emptied
  assert(isCountable(progress.usage), 'usage is counted in whole numbers')
  if (open.leaseUntil === leaseUntil && isSame(open.progress, progress)) return []
  const { userId } = open.facts
  return [{ type: 'CallProgressed', v: 1, data: { call, userId, ...progress, leaseUntil } }]
}

/**
 * Holds more for a running call, as far as it can be paid. It is refused when that is below
 * `least`, or when the call has ended.
 */
export function raiseHold({ call, hold, least }: RaiseHold, state: AccountState): Outcome {
  const open = state.open.get(call)
  if (open === undefined)
    return isOver(state, call) ? codedError('CallEnded') : codedError('CallUnknown')
  if (hold <= open.hold) return []
  const { userId, tokenId } = open.facts
  const payable = payableBy(state, tokenId)
  const wanted = hold - open.hold
  const added = wanted < payable ? wanted : payable
  const total = open.hold + added
  if (added <= 0n || total < least || !isInRange(total)) {
    return codedError('InsufficientQuota', { balance: String(payable), needed: String(wanted) })
  }
  const postings = holdPostings(userId, added)
  const data = { call, userId, tokenId, hold: toWire(total), added: toWire(added), postings }
  return [{ type: 'HoldRaised', v: 1, data }]
}

/**
 * Charges the real usage at the price kept at admission. Beyond what the hold and the free quota
 * cover, it charges the part within the call's limits, where the command names one.
 */
export function settleCall(requested: SettleCall, state: AccountState): Outcome {
  const open = state.open.get(requested.call)
  if (open === undefined) return repeatedEnd(state, requested.call)
  const { usageWithinLimits, ...command } = payablePart(requested, open, state)
  const { type, ...course } = command
  const { price, clientIp } = open
  const { facts, charge, ...spent } = bill(open, command)
  const data = { ...facts, ...course, ...spent.cost, price, clientIp, ...money(open, charge) }
  return [{ type: 'CallSettled', v: 1, data: { ...data, charge: toWire(charge) } }]
}

function payablePart(
  command: SettleCall,
  open: OpenCall,
  state: AccountState,
): SettleCall & { unpaidUsage?: Usage } {
  const { usage, usageWithinLimits } = command
  if (usageWithinLimits === undefined) return command
  const free = payableBy(state, open.facts.tokenId)
  const { charge } = bill(open, command)
  if (charge <= open.hold + (free > 0n ? free : 0n)) return command
  return { ...command, usage: usageWithinLimits, unpaidUsage: usage }
}

export function releaseCall(command: ReleaseCall, state: AccountState): Outcome {
  const open = state.open.get(command.call)
  if (open === undefined) return repeatedEnd(state, command.call)
  const { type, ...course } = command
  const { facts, clientIp } = open
  return [
    { type: 'CallReleased', v: 1, data: { ...facts, ...course, clientIp, ...money(open, 0n) } },
  ]
}

/**
 * Charges the usage of the last progress, or nothing without one; never before the lease is over.
 */
export function interruptCall(
  { call, at, leaseUntil }: InterruptCall,
  state: AccountState,
): Outcome {
  const open = state.open.get(call)
  if (open === undefined) return repeatedEnd(state, call)
  const isRenewed = leaseUntil !== undefined && leaseUntil !== open.leaseUntil
  if (isRenewed || at <= open.leaseUntil)
    return codedError('LeaseNotOver', { leaseUntil: open.leaseUntil })
  const { price, clientIp, startedAt, progress } = open
  const { channelId = null, usage = NO_USAGE, costRatio } = progress ?? {}
  const used = costRatio === undefined ? { usage } : { usage, costRatio }
  const { facts, charge, cost } = bill(open, { ...used, end: 'incomplete' })
  const course = { channelId, usage, ...cost, price, startedAt, clientIp }
  const data = { ...facts, ...course, ...money(open, charge), charge: toWire(charge) }
  return [{ type: 'CallInterrupted', v: 1, data }]
}

/**
 * Computes the charge, the provider's cost and the number of calls. A completed call counts even
 * without any tokens; an incomplete one counts only if it has usage.
 */
function bill({ facts, price }: OpenCall, { usage, end, costRatio }: Used): Bill {
  const { calls: requested = 1, ...others } = facts
  const byUsage = hasUsage(usage) ? 1 : 0
  const calls = end === 'done' ? requested : requested * byUsage
  const charge = chargeFor(price, usage, calls)
  const cost =
    costRatio === undefined
      ? {}
      : { costRatio, cost: toWire(costFor(price, usage, calls, costRatio)) }
  return { facts: calls === byUsage ? others : { ...others, calls }, charge, cost }
}

type Used = {
  readonly usage: Usage
  readonly end: CallEnd
  readonly costRatio?: DecimalText
}
type Bill = { readonly facts: CallFacts; readonly charge: Quota; readonly cost: ProviderCost }

const money = ({ facts, hold }: OpenCall, charge: Quota) => ({
  hold: toWire(hold),
  postings: endPostings(facts.userId, hold, charge),
})

const isOver = (state: AccountState, call: string): boolean =>
  recall(state.ended, call) !== 'unknown'

/**
 * The end of a call that is not open is a repeat if the call ended before, and otherwise an error.
 */
function repeatedEnd(state: AccountState, call: string): Outcome {
  return isOver(state, call) ? [] : codedError('CallUnknown')
}

/**
 * A limit up to this many tokens of each choice may take all free quota; a larger one may take
 * half.
 */
const MODEST_OUTPUT_TOKENS = 4_096

/**
 * The output limit that `payable` covers and its hold, or null when it covers less than the least
 * limit. A larger limit takes half of the free quota, so that one call does not shut out the next.
 */
function reduceOutput(
  price: PriceSnapshot,
  { bounds, leastOutputTokens, mostOutputTokens }: OutputReduction,
  payable: Quota,
): { readonly outputLimit: number; readonly hold: Quota } | null {
  const within = (most: Quota) => outputTokensWithin(price, bounds, most) ?? 0
  const modest = Math.min(within(payable), MODEST_OUTPUT_TOKENS)
  const outputLimit = Math.min(Math.max(modest, within(payable / 2n)), mostOutputTokens)
  const hold = holdFor(price, { ...bounds, outputTokens: outputLimit })
  return outputLimit < leastOutputTokens || hold > payable ? null : { outputLimit, hold }
}

import {
  CALLS_MAX,
  callsFor,
  chargeFor,
  costFor,
  hasUsage,
  isCallCount,
  isCountable,
} from '../pricing/charge.ts'
import { payablePartsInTiers, payableUsage } from '../pricing/hold-amount.ts'
import type { DecimalText, ProviderCost } from '../pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '../pricing/usage.ts'
import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import { isSame } from '../shared/deep-equal.ts'
import { isPlayground } from '../shared/playground-token-id.ts'
import { isInRange, type Quota, toWire } from '../shared/quota.ts'
import { quotaAvailableToToken, withAffordableTerms } from './affordable-terms.ts'
import type { SentRequest } from './call-event-members.ts'
import type {
  AccountError,
  AdmitCall,
  InterruptCall,
  RaiseHold,
  RecordProgress,
  ReleaseCall,
  SettleCall,
} from './commands.ts'
import type { AccountEvent, CallEnd, CallFacts, Served } from './events.ts'
import { endPostings, holdPostings } from './ledger-postings.ts'
import { type AccountState, findEndedCall, type OpenCall } from './state.ts'

type Outcome = readonly AccountEvent[] | AccountError

const NO_CALL_COUNT = `1 to ${CALLS_MAX} calls`

/**
 * Admits a call and holds its maximum cost. If the account cannot pay this hold, the command's
 * cheaper terms and smaller output limits are tried. A call for work that the provider has already
 * done (`isOwed`) has a hold of 0 and needs no quota. A repeated command changes nothing, but for a
 * task or a batch, it is refused, so that two of them never share one hold.
 */
export function admitCall(requested: AdmitCall, state: AccountState): Outcome {
  const payable = quotaAvailableToToken(state, requested.tokenId)
  const command = withAffordableTerms(requested, payable)
  const { type, reduction, cheaper, task, batch, isOwed = false, ...facts } = command
  const { call, hold, calls } = facts
  const isPlain = task === undefined && batch === undefined
  if (state.open.has(call)) return isPlain ? [] : codedError('CallKnown')
  const memory = findEndedCall(state.ended, call)
  if (memory !== 'unknown') {
    return memory === 'ended' && isPlain ? [] : codedError('CallEnded')
  }
  assert(calls === undefined || (isCallCount(calls) && calls > 0), NO_CALL_COUNT)
  if (hold < 0n || !isInRange(hold)) return codedError('AmountOutOfRange')
  assert(!isOwed || (isPlain && hold === 0n), 'an owed call must have a hold of 0')
  const unpayable = isOwed ? null : unpayableError(command, state)
  if (unpayable !== null) return unpayable
  if (task !== undefined && openTasks(state) >= task.openMax) {
    return codedError('TooManyTasks', { max: task.openMax })
  }
  const stepError = task?.stepOf === undefined ? null : errorOfStep(task.stepOf, state)
  if (stepError !== null) return stepError
  if (batch !== undefined && openBatches(state) >= batch.openMax) {
    return codedError('TooManyBatches', { max: batch.openMax })
  }
  const postings = holdPostings(command.userId, hold)
  const data = { ...facts, ...kindOf(task, batch), hold: toWire(hold), postings }
  return [{ type: 'CallAdmitted', v: 1, data }]
}

const PLAIN = Object.freeze({})

function kindOf(task: AdmitCall['task'], batch: AdmitCall['batch']) {
  if (task?.stepOf !== undefined) return { isTask: true as const, stepOf: task.stepOf }
  if (task !== undefined) return { isTask: true as const }
  return batch === undefined ? PLAIN : { batch: { id: batch.id, lines: batch.lines } }
}

const openTasks = ({ open }: AccountState): number =>
  [...open.values()].filter(({ isTask }) => isTask === true).length

/**
 * Returns an error if the task that a modal step completes has ended, has another open step, or is
 * itself a step. Otherwise returns null. A task pays for one result only, so a second step would
 * not be charged.
 */
function errorOfStep(task: string, state: AccountState): AccountError | null {
  const completed = state.open.get(task)
  if (completed === undefined) return codedError('StepTooLate')
  if (completed.stepOf !== undefined) return codedError('StepOpen', { step: task })
  return errorOfOpenStep(task, state)
}

function errorOfOpenStep(task: string, { open }: AccountState): AccountError | null {
  const step = [...open.values()].find(({ stepOf }) => stepOf === task)
  return step === undefined ? null : codedError('StepOpen', { step: step.facts.call })
}

const openBatches = ({ open }: AccountState): number =>
  [...open.values()].filter(({ facts }) => facts.batch !== undefined).length

/**
 * Returns an error if the account or the token can't pay the hold of a call, or if the balance for
 * a task is not positive. Otherwise returns null.
 */
function unpayableError(command: AdmitCall, state: AccountState): AccountError | null {
  const tokenBudgetError = budgetError(command, state)
  if (tokenBudgetError !== null) return tokenBudgetError
  const { hold, task } = command
  const { balance } = state
  if (hold <= balance && (task === undefined || balance > 0n)) return null
  return codedError('InsufficientQuota', { balance: String(balance), needed: String(hold) })
}

function budgetError({ tokenId, hold }: AdmitCall, { budgets }: AccountState): AccountError | null {
  if (isPlayground(tokenId)) return null
  const budget = budgets.get(tokenId)
  if (budget === undefined) return codedError('TokenBudgetUnknown', { tokenId })
  if (budget.isUnlimited || hold <= budget.remain) return null
  return codedError('TokenBudgetExhausted', { remain: String(budget.remain), needed: String(hold) })
}

/**
 * Returns the error that ends a running call, or null if the call may continue. The call must end
 * if, after its admission, a deduction, a refunded top-up, a correction or an edit of the token's
 * budget used up the quota. Calls with a hold of 0 and calls of submitted tasks always continue.
 */
export function quotaUsedUpError(
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
 * Records the usage of a running call so far. This usage is charged if the process that serves the
 * call dies. If `quotaUsedUpError` returns an error, the command is refused and the relay ends the
 * call.
 */
export function recordProgress(command: RecordProgress, state: AccountState): Outcome {
  const { type, call, leaseUntil, calls, ...attempt } = command
  const open = state.open.get(call)
  if (open === undefined)
    return isOver(state, call) ? codedError('CallEnded') : codedError('CallUnknown')
  const emptied = quotaUsedUpError(open, state)
  if (emptied !== null) return emptied
  assert(isCountable(attempt.usage), 'usage is counted in whole numbers')
  const isAsAdmitted = calls === undefined || calls === (open.facts.calls ?? 1)
  const progress = isAsAdmitted ? attempt : { ...attempt, calls }
  if (open.leaseUntil === leaseUntil && isSame(open.progress, progress)) return []
  const { userId } = open.facts
  return [{ type: 'CallProgressed', v: 1, data: { call, userId, ...progress, leaseUntil } }]
}

/**
 * Raises a call's hold to `hold`, or to the highest total that the account can pay. The command is
 * refused if the account can't pay more, or if this total is below `least`.
 */
export function raiseHold({ call, hold, least }: RaiseHold, state: AccountState): Outcome {
  const open = state.open.get(call)
  if (open === undefined)
    return isOver(state, call) ? codedError('CallEnded') : codedError('CallUnknown')
  if (hold <= open.hold) return []
  const { userId, tokenId } = open.facts
  const payable = quotaAvailableToToken(state, tokenId)
  const increase = hold - open.hold
  const added = increase < payable ? increase : payable
  const total = open.hold + added
  if (added <= 0n || total < least || !isInRange(total)) {
    return codedError('InsufficientQuota', { balance: String(payable), needed: String(increase) })
  }
  const postings = holdPostings(userId, added)
  const data = { call, userId, tokenId, hold: toWire(total), added: toWire(added), postings }
  return [{ type: 'HoldRaised', v: 1, data }]
}

/**
 * Ends a call and charges its usage at the price of its admission, or at the price of `served`.
 * Usage beyond `limits` is charged only as far as the account can pay.
 */
export function settleCall(requested: SettleCall, state: AccountState): Outcome {
  const admitted = state.open.get(requested.call)
  if (admitted === undefined) return repeatedEnd(state, requested.call)
  const { type, limits, served, billed, calls: _, ...callDetails } = requested
  if (billed !== undefined) {
    return settleBatch({ type, ...callDetails }, billed, admitted, state)
  }
  const open = servedCall(admitted, served)
  const { price, clientIp } = open
  const full = bill(open, requested)
  const part = payablePart(requested, open, full.charge, state)
  const { facts, charge } = part === null ? full : bill(open, { ...requested, ...part })
  const data = {
    ...facts,
    ...callDetails,
    ...part,
    // The operator pays the provider for the full usage, even if the account could not pay for it.
    ...full.cost,
    price,
    clientIp,
    ...holdAndPostings(open, charge),
    charge: toWire(charge),
  }
  return [{ type: 'CallSettled', v: 1, data }]
}

/** Returns the call with the model, the group and the price that served it. */
function servedCall(open: OpenCall, served: Served | undefined): OpenCall {
  if (served === undefined) return open
  const { model, group, price } = served
  const requested = { model: open.facts.model, group: open.facts.group }
  return { ...open, facts: { ...open.facts, model, group, requested }, price }
}

/** Charges the lines of a batch, at most the hold plus the quota available to the token. */
function settleBatch(
  { type, costRatio, ...callDetails }: Omit<SettleCall, 'served' | 'billed' | 'limits'>,
  { lines, charge: full, cost, estimatedLines }: NonNullable<SettleCall['billed']>,
  open: OpenCall,
  state: AccountState,
): Outcome {
  const { facts, price, clientIp } = open
  const free = quotaAvailableToToken(state, facts.tokenId)
  const covered = open.hold + (free > 0n ? free : 0n)
  const charge = full < covered ? full : covered
  const ofCost =
    costRatio === undefined || cost === undefined ? {} : { costRatio, cost: toWire(cost) }
  const unpaid = charge === full ? {} : { unpaid: toWire(full - charge) }
  const estimated = estimatedLines === undefined ? {} : { estimatedLines }
  const billing = { billedLines: lines, ...estimated, ...unpaid, ...ofCost, price, clientIp }
  const data = { ...facts, ...callDetails, ...billing, ...holdAndPostings(open, charge) }
  return [{ type: 'CallSettled', v: 1, data: { ...data, charge: toWire(charge) } }]
}

/**
 * Returns the part of the usage that is charged, and the full usage. Returns null if the full usage
 * is charged: there are no limits, the limits cover it, or the account can pay for it. `charge` is
 * the charge for the full usage.
 */
function payablePart(
  command: SettleCall,
  open: OpenCall,
  charge: Quota,
  state: AccountState,
): { readonly usage: Usage; readonly unpaidUsage: Usage } | null {
  const { limits } = command
  if (limits === undefined) return null
  const free = quotaAvailableToToken(state, open.facts.tokenId)
  const covered = open.hold + (free > 0n ? free : 0n)
  if (charge <= covered) return null
  const chargeOf = (usage: Usage): Quota => bill(open, { ...command, usage }).charge
  const isPayable = (usage: Usage) => chargeOf(usage) <= covered
  const hasTiers = open.price.mode === 'tokens' && open.price.tiers !== undefined
  const usage = hasTiers
    ? payablePartsInTiers(command.usage, limits, isPayable).reduce((most, one) =>
        chargeOf(one) > chargeOf(most) ? one : most,
      )
    : payableUsage(command.usage, limits, isPayable)
  return usage === command.usage ? null : { usage, unpaidUsage: command.usage }
}

/**
 * Ends a call without a charge. A task that expires or fails is not released while its modal step
 * is open, because a successful step completes and charges the task. Some providers report a task
 * as failed as soon as its modal window is answered.
 */
export function releaseCall(command: ReleaseCall, state: AccountState): Outcome {
  const open = state.open.get(command.call)
  if (open === undefined) return repeatedEnd(state, command.call)
  const isOver = command.reason === 'timeout' || command.errorCode === 'task_failed'
  const waitsForStep = open.isTask === true && isOver
  const stepError = waitsForStep ? errorOfOpenStep(command.call, state) : null
  if (stepError !== null) return stepError
  const { type, ...callDetails } = command
  const { facts, clientIp } = open
  return [
    {
      type: 'CallReleased',
      v: 1,
      data: { ...facts, ...callDetails, clientIp, ...holdAndPostings(open, 0n) },
    },
  ]
}

/** Ends a call whose lease has expired and charges the last recorded usage. */
export function interruptCall(
  { call, at, leaseUntil }: InterruptCall,
  state: AccountState,
): Outcome {
  const admitted = state.open.get(call)
  if (admitted === undefined) return repeatedEnd(state, call)
  const isRenewed = leaseUntil !== undefined && leaseUntil !== admitted.leaseUntil
  if (isRenewed || at <= admitted.leaseUntil)
    return codedError('LeaseNotOver', { leaseUntil: admitted.leaseUntil })
  const open = servedCall(admitted, admitted.progress?.served)
  const { price, clientIp, startedAt, progress } = open
  const { channelId = null, usage = NO_USAGE, formats } = progress ?? {}
  const { facts, charge, cost } = bill(open, { ...progress, usage, end: 'incomplete' })
  const changes = formats === undefined ? {} : { formats }
  const callDetails = { channelId, usage, ...cost, ...changes, price, startedAt, clientIp }
  const data = {
    ...facts,
    ...callDetails,
    ...holdAndPostings(open, charge),
    charge: toWire(charge),
  }
  return [{ type: 'CallInterrupted', v: 1, data }]
}

function bill({ facts, price }: OpenCall, { usage, end, costRatio, calls: sent }: CallUse): Bill {
  const { calls: admitted = 1, ...others } = facts
  const byUsage = hasUsage(usage) ? 1 : 0
  // For a rerank, a price per call applies to each search unit. The gateway knows the number of
  // search units only if the provider reports it.
  const units = usage.searchUnits > 0 ? Math.min(usage.searchUnits, CALLS_MAX) : (sent ?? admitted)
  const calls = callsFor(price, usage, units, end === 'done')
  const charge = chargeFor(price, usage, calls)
  const cost =
    costRatio === undefined
      ? {}
      : { costRatio, cost: toWire(costFor(price, usage, calls, costRatio)) }
  return { facts: calls === byUsage ? others : { ...others, calls }, charge, cost }
}

type CallUse = Pick<SentRequest, 'calls'> & {
  readonly usage: Usage
  readonly end: CallEnd
  readonly costRatio?: DecimalText
}
type Bill = { readonly facts: CallFacts; readonly charge: Quota; readonly cost: ProviderCost }

const holdAndPostings = ({ facts, hold }: OpenCall, charge: Quota) => ({
  hold: toWire(hold),
  postings: endPostings(facts.userId, hold, charge),
})

const isOver = (state: AccountState, call: string): boolean =>
  findEndedCall(state.ended, call) !== 'unknown'

/** Returns no events if the call has already ended, and an error if the call is unknown. */
function repeatedEnd(state: AccountState, call: string): Outcome {
  return isOver(state, call) ? [] : codedError('CallUnknown')
}

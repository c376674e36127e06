import { correctionBatchId, rebateId, topUpId } from './build-deduplication-ids.ts'
import type { AccountEvent, ChargeCorrected } from './events.ts'
import { type AccountState, undoAddedEndedCall } from './state.ts'

/**
 * Returns a function that reverts `event`. Must be called before `event` is applied. The cost does
 * not depend on the length of the history. Several events must be reverted in reverse order.
 */
export function undoAccount(state: AccountState, event: AccountEvent): () => void {
  const { balance, held, admissions, emptiedAt, affiliate, checkInDay } = state
  const revertMapsAndSets = undoMapsAndSets(state, event)
  return () => {
    state.balance = balance
    state.held = held
    state.admissions = admissions
    state.emptiedAt = emptiedAt
    state.affiliate = affiliate
    state.checkInDay = checkInDay
    revertMapsAndSets()
  }
}

/** Returns a function that reverts the changes that `event` makes to maps and sets. */
function undoMapsAndSets(state: AccountState, event: AccountEvent): () => void {
  switch (event.type) {
    case 'QuotaGranted':
      return undoId(state.grantIds, event.data.grantId)
    case 'QuotaDeducted':
      return undoId(state.deductionIds, event.data.deductionId)
    case 'InviteRewarded':
      return undoId(state.inviteeIds, event.data.inviteeId)
    case 'AffiliateTransferred':
      return undoId(state.transferIds, event.data.transferId)
    case 'CheckedIn':
      return () => {}
    case 'TopUpCredited':
      return undoId(state.grantIds, topUpId(event.data))
    case 'TopUpReversed':
      return undoId(state.deductionIds, topUpId(event.data))
    case 'RebateEarned':
      return undoId(state.grantIds, rebateId(event.data))
    case 'RebateReversed':
      return undoId(state.deductionIds, rebateId(event.data))
    case 'TokenBudgetSet':
    case 'TokenBudgetClosed':
      return undoBudget(state, event.data.tokenId)
    case 'TokenBudgetsOpened':
    case 'TokenBudgetsClosed': {
      return together(event.data.tokenIds.map((tokenId) => undoBudget(state, tokenId)))
    }
    case 'CallAdmitted': {
      const { call, tokenId } = event.data
      const budget = undoBudget(state, tokenId)
      return () => {
        state.open.delete(call)
        budget()
      }
    }
    case 'CallProgressed': {
      const open = state.open.get(event.data.call)
      if (open === undefined) return () => {}
      const { progress, leaseUntil } = open
      return () => Object.assign(open, { progress, leaseUntil })
    }
    case 'HoldRaised': {
      const { call, tokenId } = event.data
      const open = state.open.get(call)
      const budget = undoBudget(state, tokenId)
      const hold = open?.hold ?? 0n
      return () => {
        if (open !== undefined) open.hold = hold
        budget()
      }
    }
    case 'ChargeCorrected':
      return undoCorrection(state, event.data)
    case 'CallSettled':
    case 'CallInterrupted':
    case 'CallReleased':
      return undoEnd(state, event.data.call, event.data.tokenId)
  }
}

const together = (undos: readonly (() => void)[]) => (): void => {
  for (const undo of undos) undo()
}

function undoCorrection(state: AccountState, data: ChargeCorrected['data']): () => void {
  const id = undoId(state.deductionIds, correctionBatchId(data))
  return together([...data.budgets.map(([tokenId]) => undoBudget(state, tokenId)), id])
}

function undoId<Id>(ids: Set<Id>, id: Id): () => void {
  return ids.has(id) ? () => {} : () => void ids.delete(id)
}

function undoBudget({ budgets }: AccountState, tokenId: number): () => void {
  const budget = budgets.get(tokenId)
  if (budget === undefined) return () => void budgets.delete(tokenId)
  const { remain } = budget
  return () => {
    budget.remain = remain
    budgets.set(tokenId, budget)
  }
}

function undoEnd(state: AccountState, call: string, tokenId: number): () => void {
  const open = state.open.get(call)
  const budget = undoBudget(state, tokenId)
  const undoEnded = undoAddedEndedCall(state.ended, call)
  return () => {
    if (open !== undefined) state.open.set(call, open)
    budget()
    undoEnded()
  }
}

import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { type AmountUnit, quotaOfAmount } from '#console/ui/quota/quota-amount.ts'
import { randomId } from '#console/ui/state/random-id.ts'
import type { AdjustQuota } from '#write-api/contract/users.ts'

/**
 * A change of balances as typed: the amount in dollars or in quota units, as the site shows them.
 */
export type AdjustDraft = {
  readonly action: AdjustQuota['action']
  readonly amount: string
  readonly reason: string
}

export type AdjustFault = 'amountWrong' | 'amountBeyond' | 'adjustReasonMissing'

export const newAdjustment: AdjustDraft = { action: 'add', amount: '', reason: '' }

/** Quota units; null while no amount above 0 is typed. */
export function amountOf({ amount }: AdjustDraft, unit: AmountUnit): bigint | null {
  const quota = quotaOfAmount(amount, unit)
  return quota === null || quota === 0n ? null : quota
}

/** The balance after the change, from the present balance. */
export const balanceAfter = (balance: bigint, draft: AdjustDraft, amount: bigint): bigint =>
  draft.action === 'add' ? balance + amount : balance - amount

/** Whether the server would refuse it: a deduction cannot exceed the balance. */
export const isBeyond = (balance: bigint, draft: AdjustDraft, amount: bigint | null): boolean =>
  amount !== null && draft.action === 'deduct' && amount > balance

/** `balances` are those of the chosen users. An amount that none of them can pay is an error. */
export function adjustFaults(
  draft: AdjustDraft,
  unit: AmountUnit,
  balances: readonly bigint[],
): FieldErrors<AdjustDraft, AdjustFault> {
  const amount = amountOf(draft, unit)
  const areAllBeyond = balances.every((balance) => isBeyond(balance, draft, amount))
  return {
    ...(amount === null ? { amount: 'amountWrong' as const } : {}),
    ...(amount !== null && areAllBeyond ? { amount: 'amountBeyond' as const } : {}),
    ...(draft.reason.trim() === '' ? { reason: 'adjustReasonMissing' as const } : {}),
  }
}

type Change = Omit<AdjustQuota, 'request_id'>

/**
 * The request id of a change: a request without an answer can be repeated without a second change,
 * and another change has another id.
 */
export function createRequestIds(): (change: Change) => string {
  const ids = new Map<string, string>()
  return (change) => {
    const key = JSON.stringify(change)
    const id = ids.get(key) ?? randomId()
    ids.set(key, id)
    return id
  }
}

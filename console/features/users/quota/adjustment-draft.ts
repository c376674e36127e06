import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { type AmountUnit, quotaOfAmount } from '#console/ui/quota/quota-amount.ts'
import { randomId } from '#console/ui/state/random-id.ts'
import type { AdjustQuota } from '#write-api/contract/users.ts'

/**
 * The values of the form that adds quota to a balance or deducts it. The amount is in dollars or
 * quota units, as the site is set.
 */
export type AdjustmentDraft = {
  readonly action: AdjustQuota['action']
  readonly amount: string
  readonly reason: string
}

export type AdjustmentErrorKey = 'amountInvalid' | 'amountBeyond' | 'adjustReasonMissing'

export const newAdjustment: AdjustmentDraft = { action: 'add', amount: '', reason: '' }

/** Returns the amount in quota units, or null if it is not above 0. */
export function amountOf({ amount }: AdjustmentDraft, unit: AmountUnit): bigint | null {
  const quota = quotaOfAmount(amount, unit)
  return quota === null || quota === 0n ? null : quota
}

export const balanceAfter = (balance: bigint, draft: AdjustmentDraft, amount: bigint): bigint =>
  draft.action === 'add' ? balance + amount : balance - amount

/** Returns true if a deduction exceeds the balance. The server refuses such a deduction. */
export const isBeyond = (balance: bigint, draft: AdjustmentDraft, amount: bigint | null): boolean =>
  amount !== null && draft.action === 'deduct' && amount > balance

/**
 * Returns the errors of the form. With several users, a deduction is an error only if it exceeds
 * every balance.
 */
export function validateAdjustment(
  draft: AdjustmentDraft,
  unit: AmountUnit,
  balances: readonly bigint[],
): FieldErrors<AdjustmentDraft, AdjustmentErrorKey> {
  const amount = amountOf(draft, unit)
  const areAllBeyond = balances.every((balance) => isBeyond(balance, draft, amount))
  return {
    ...(amount === null ? { amount: 'amountInvalid' as const } : {}),
    ...(amount !== null && areAllBeyond ? { amount: 'amountBeyond' as const } : {}),
    ...(draft.reason.trim() === '' ? { reason: 'adjustReasonMissing' as const } : {}),
  }
}

type Change = Omit<AdjustQuota, 'request_id'>

/**
 * Returns a function that gives each change a request id. The same change gets the same id, so that
 * the server applies it only once.
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

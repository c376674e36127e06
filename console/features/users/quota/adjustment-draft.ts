import { randomId } from '#console/ui/browser/random-id.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { type AmountUnit, quotaOfAmount } from '#console/ui/quota/quota-amount.ts'
import type { AdjustQuota } from '#write-api/contract/users.ts'

/**
 * The values of the form that adds quota to balances or deducts it. A setting of the site decides
 * whether `amount` is in dollars or in quota units.
 */
export type AdjustmentDraft = {
  readonly action: AdjustQuota['action']
  readonly amount: string
  readonly reason: string
}

export type AdjustmentErrorKey = 'amountInvalid' | 'amountAboveBalance' | 'adjustReasonMissing'

export const newAdjustment: AdjustmentDraft = { action: 'add', amount: '', reason: '' }

/** Returns the amount in quota units, or null if it is not above 0. */
export function amountOf({ amount }: AdjustmentDraft, unit: AmountUnit): bigint | null {
  const quota = quotaOfAmount(amount, unit)
  return quota === null || quota === 0n ? null : quota
}

export const balanceAfter = (balance: bigint, draft: AdjustmentDraft, amount: bigint): bigint =>
  draft.action === 'add' ? balance + amount : balance - amount

/**
 * Reports whether the draft is a deduction that exceeds the balance. The server refuses such a
 * deduction.
 */
export const exceedsBalance = (
  balance: bigint,
  draft: AdjustmentDraft,
  amount: bigint | null,
): boolean => amount !== null && draft.action === 'deduct' && amount > balance

/**
 * Returns an error key for each invalid field. For several users, a deduction is an error only if
 * it exceeds the balance of each user.
 */
export function validateAdjustment(
  draft: AdjustmentDraft,
  unit: AmountUnit,
  balances: readonly bigint[],
): FieldErrors<AdjustmentDraft, AdjustmentErrorKey> {
  const amount = amountOf(draft, unit)
  const exceedsAllBalances = balances.every((balance) => exceedsBalance(balance, draft, amount))
  return {
    ...(amount === null ? { amount: 'amountInvalid' as const } : {}),
    ...(amount !== null && exceedsAllBalances ? { amount: 'amountAboveBalance' as const } : {}),
    ...(draft.reason.trim() === '' ? { reason: 'adjustReasonMissing' as const } : {}),
  }
}

type Change = Omit<AdjustQuota, 'request_id'>

/**
 * Returns a function that returns the request id for a change. A repeated call with the same change
 * returns the same id, so that the server applies the change only once.
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

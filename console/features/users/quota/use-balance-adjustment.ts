import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { logsKey } from '#console/api/usage-log-queries.ts'
import { userQuery, usersKey } from '#console/api/user-queries.ts'
import { randomId } from '#console/ui/browser/random-id.ts'
import { useAmountUnit } from '#console/ui/forms/amount-field.tsx'
import { type FieldErrors, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { type AmountUnit, quotaOfAmount } from '#console/ui/quota/convert-entered-amount.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { useLiveRefetch } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { User } from '#read-api/contract/users.ts'
import type { AdjustQuota, QuotaAdjustment } from '#write-api/contract/users.ts'

export type Adjustment = ReturnType<typeof useBalanceAdjustment>

export function useBalanceAdjustment({
  users,
  onClose,
}: {
  users: readonly User[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const unit = useAmountUnit()
  const [failedItems, setFailedItems] = useState<{
    draft: AdjustmentDraft
    items: QuotaAdjustment[]
  }>()
  const [requestIdOf] = useState(createRequestIds)
  // The ids of the users whose balance was already changed. A retry skips these users.
  const [adjustedIds, setAdjustedIds] = useState<ReadonlySet<number>>(new Set())
  const remainingUsers = users.filter(({ id }) => !adjustedIds.has(id))
  const balances = useBalances(remainingUsers)
  const form = useDraftForm<AdjustmentDraft, AdjustmentErrorKey>({
    initial: () => newAdjustment,
    validate: (draft) => validateAdjustment(draft, unit, [...balances.values()]),
    errorText: (errorKey) => t(`users.error.${errorKey}`),
    save: async (draft) => {
      const ids = remainingUsers.map(({ id }) => id)
      const to = users.length === 1 ? { id: Number(ids[0]) } : { ids }
      const { action, reason } = draft
      const amount = Number(amountOf(draft, unit))
      const change = { ...to, action, amount, reason: reason.trim() }
      const { items } = await call('POST /api/user/quota', {
        body: { ...change, request_id: requestIdOf(change) },
      })
      void client.invalidateQueries({ queryKey: usersKey })
      void client.invalidateQueries({ queryKey: ['user'] })
      void client.invalidateQueries({ queryKey: [...logsKey, 'by-hand'] })
      const failed = items.filter(({ outcome }) => outcome === 'refused')
      const done = items.filter(({ outcome }) => outcome !== 'refused')
      if (done.length > 0) showSuccess(t('users.adjusted', { count: done.length }))
      setFailedItems({ draft, items: failed })
      if (failed.length === 0) return onClose()
      setAdjustedIds(new Set([...adjustedIds, ...done.map(({ id }) => id)]))
    },
  })
  const amount = amountOf(form.draft, unit)
  // After an edit, the failures of the last request are hidden, because they belong to the earlier
  // values.
  const failed = failedItems?.draft === form.draft ? failedItems.items : []
  return { form, users: remainingUsers, isMany: users.length > 1, unit, failed, amount, balances }
}

const REFETCH_INTERVAL_MIN_MS = 1_000
/**
 * The maximum number of users whose current balances are read from the server. If more users are
 * selected, the balances from the list of users are used. These balances may be older.
 */
const READ_USERS_MAX = 5

export function useBalances(users: readonly User[]): ReadonlyMap<number, bigint> {
  const client = useQueryClient()
  const read = users.length <= READ_USERS_MAX ? users : []
  const fresh = useQueries({ queries: read.map(({ id }) => userQuery(id)) })
  const refetch = () => {
    for (const { id } of read) void client.invalidateQueries({ queryKey: ['user', id] })
  }
  useLiveRefetch('logs', REFETCH_INTERVAL_MIN_MS, refetch, (row) =>
    read.some(({ id }) => id === row.user_id),
  )
  return new Map(
    users.map((user, at) => [user.id, quotaOf(fresh[at]?.data?.quota ?? user.quota)] as const),
  )
}

/**
 * The values of the form that adds quota to balances or deducts quota from balances. A setting of
 * the site determines whether `amount` is in dollars or in quota units.
 */
type AdjustmentDraft = {
  readonly action: AdjustQuota['action']
  readonly amount: string
  readonly reason: string
}

type AdjustmentErrorKey = 'amountInvalid' | 'amountAboveBalance' | 'adjustReasonMissing'

const newAdjustment: AdjustmentDraft = { action: 'add', amount: '', reason: '' }

/** Returns the amount in quota units, or null if the amount is invalid or 0. */
function amountOf({ amount }: AdjustmentDraft, unit: AmountUnit): bigint | null {
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
 * it exceeds the balance of each of them.
 */
function validateAdjustment(
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
 * Creates a function that returns the request id for a change. For the same change, this function
 * always returns the same id, so that the server applies the change only once.
 */
function createRequestIds(): (change: Change) => string {
  const ids = new Map<string, string>()
  return (change) => {
    const key = JSON.stringify(change)
    const id = ids.get(key) ?? randomId()
    ids.set(key, id)
    return id
  }
}

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { logsKey } from '#console/api/logs.ts'
import { usersKey } from '#console/api/user-queries.ts'
import { useAmountUnit } from '#console/ui/forms/amount-field.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { User } from '#read-api/contract/users.ts'
import type { QuotaAdjustment } from '#write-api/contract/users.ts'
import {
  type AdjustmentDraft,
  type AdjustmentErrorKey,
  amountOf,
  createRequestIds,
  newAdjustment,
  validateAdjustment,
} from './adjustment-draft.ts'
import { useBalances } from './use-balances.ts'

export type Adjustment = ReturnType<typeof useAdjustment>

export function useAdjustment({ users, onClose }: { users: readonly User[]; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const unit = useAmountUnit()
  const [failedItems, setFailedItems] = useState<{
    draft: AdjustmentDraft
    items: QuotaAdjustment[]
  }>()
  const [requestIdOf] = useState(createRequestIds)
  // The ids of the users whose balance was already changed. A retry skips them.
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
  // The failures of the last request are hidden after an edit, because they are about the values
  // before the edit.
  const failed = failedItems?.draft === form.draft ? failedItems.items : []
  return { form, users: remainingUsers, isMany: users.length > 1, unit, failed, amount, balances }
}

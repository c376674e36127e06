import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { logsKey } from '#console/api/logs.ts'
import { useStatus } from '#console/api/status.ts'
import { usersKey } from '#console/api/users.ts'
import { amountUnitOf } from '#console/ui/quota-amount.ts'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { User } from '#read-api/contract/users.ts'
import type { QuotaAdjustment } from '#write-api/contract/users.ts'
import {
  type AdjustDraft,
  type AdjustFaults,
  adjustFaults,
  amountOf,
  createRequestIds,
  newAdjustment,
} from './adjust-draft.ts'
import { useBalances } from './use-balances.ts'

export type AdjustForm = ReturnType<typeof useAdjustment>

/** The form of a change of balances, and what became of each user's once it is sent. */
export function useAdjustment({ users, onClose }: { users: readonly User[]; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const status = useStatus()
  const unit = useMemo(
    () => amountUnitOf(status?.display_in_currency ?? true, status?.quota_per_unit ?? 500_000),
    [status],
  )
  const [draft, setDraft] = useState<AdjustDraft>(newAdjustment)
  const [faults, setFaults] = useState<AdjustFaults>({})
  const [refused, setRefused] = useState<readonly QuotaAdjustment[]>([])
  const [requestIdOf] = useState(createRequestIds)
  // Those whom a first try has served are not served again.
  const [served, setServed] = useState<ReadonlySet<number>>(new Set())
  const rest = users.filter(({ id }) => !served.has(id))
  const balances = useBalances(rest)
  const amount = amountOf(draft, unit)
  const { isBusy, submit } = useSubmit(async () => {
    const found = adjustFaults(draft, unit, [...balances.values()])
    setFaults(found)
    if (Object.keys(found).length > 0 || amount === null) return
    const ids = rest.map(({ id }) => id)
    const to = users.length === 1 ? { id: Number(ids[0]) } : { ids }
    const { action } = draft
    const change = { ...to, action, amount: Number(amount), reason: draft.reason.trim() }
    const { items } = await call('POST /api/user/quota', {
      body: { ...change, request_id: requestIdOf(change) },
    })
    void client.invalidateQueries({ queryKey: usersKey })
    void client.invalidateQueries({ queryKey: ['user'] })
    void client.invalidateQueries({ queryKey: [...logsKey, 'by-hand'] })
    const failed = items.filter(({ outcome }) => outcome === 'refused')
    const done = items.filter(({ outcome }) => outcome !== 'refused')
    if (done.length > 0) showSuccess(t('users.adjusted', { count: done.length }))
    setRefused(failed)
    if (failed.length === 0) return onClose()
    setServed(new Set([...served, ...done.map(({ id }) => id)]))
  })
  const onChange = (patch: Partial<AdjustDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    setRefused([])
    if (Object.keys(faults).length > 0) {
      setFaults(adjustFaults(next, unit, [...balances.values()]))
    }
  }
  const state = { users: rest, isMany: users.length > 1, unit, draft, faults, refused }
  return { ...state, amount, balances, isBusy, submit, onChange }
}

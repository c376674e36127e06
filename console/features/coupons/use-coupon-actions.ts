import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemptions.ts'
import { translate } from '#console/i18n/i18n.ts'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { changeRows } from '#console/ui/lists/cached-rows.ts'
import { confirmDelete, showUndoable } from '#console/ui/lists/list-actions.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { saveCsv } from './coupon-csv.ts'

export type CouponActions = ReturnType<typeof useCouponActions>

export function useCouponActions(onEdit: (coupon: Redemption) => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const run = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      showError(error)
    }
    await client.invalidateQueries({ queryKey: redemptionsKey })
  }
  /** Enables or disables a code. The list changes before the server responds. Offers an undo. */
  const setEnabled = async (coupon: Redemption, isEnabled: boolean): Promise<void> => {
    const { id, name } = coupon
    const status = isEnabled ? 1 : 2
    await client.cancelQueries({ queryKey: redemptionsKey })
    changeRows<Redemption>(client, redemptionsKey, (row) =>
      row.id === id ? { ...row, status } : row,
    )
    await run(async () => {
      await call('PUT /api/redemption/', { query: { status_only: true }, body: { id, status } })
      const text = t(isEnabled ? 'coupons.enabled' : 'coupons.disabled', { name })
      showUndoable(text, () => setEnabled(coupon, !isEnabled))
    })
  }
  const remove = async ({ id, name }: Redemption) => {
    if (!(await confirmDelete(t('coupons.deleteTitle', { name }), t('coupons.deleteBody')))) return
    await run(async () => {
      await call('DELETE /api/redemption/:id/', { params: { id } })
      showSuccess(t('coupons.deleted', { count: 1 }))
    })
  }
  const removeDisabled = async () => {
    const title = t('coupons.deleteDisabledTitle')
    if (!(await confirmDelete(title, t('coupons.deleteDisabledBody')))) return
    await run(async () => {
      const count = await call('DELETE /api/redemption/delete-disabled')
      showSuccess(t('coupons.deleted', { count }))
    })
  }
  const disable = (coupons: readonly Redemption[]) =>
    run(async () => {
      const body = { ids: coupons.map(({ id }) => id) }
      const count = await call('PUT /api/redemption/batch-disable', { body })
      showSuccess(t('coupons.disabledMany', { count }))
    })
  return useStableCallbacks({
    onEdit,
    setEnabled,
    remove,
    removeDisabled,
    disable,
    copyKeys,
    saveCsv,
  })
}

async function copyKeys(coupons: readonly Redemption[]): Promise<void> {
  const text = coupons.map(({ key }) => key).join('\n')
  const words = translate('coupons.keysCopied', { count: coupons.length })
  if (await copyText(text)) showSuccess(words)
}

import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/token-and-redemption-queries.ts'
import { translate } from '#console/i18n/i18n.ts'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { changeRows } from '#console/ui/lists/cached-rows.ts'
import { confirmDelete, showUndoable } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { saveCsv } from './redemption-csv.ts'

export type RedemptionActions = ReturnType<typeof useRedemptionActions>

export function useRedemptionActions(onEdit: (redemption: Redemption) => void) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const run = async (perform: () => Promise<void>): Promise<void> => {
    try {
      await perform()
    } catch (error) {
      showError(error)
    }
    await client.invalidateQueries({ queryKey: redemptionsKey })
  }
  const setEnabled = async (redemption: Redemption, isEnabled: boolean): Promise<void> => {
    const { id, name } = redemption
    const status = isEnabled ? 1 : 2
    await client.cancelQueries({ queryKey: redemptionsKey })
    changeRows<Redemption>(client, redemptionsKey, (row) =>
      row.id === id ? { ...row, status } : row,
    )
    await run(async () => {
      await call('PUT /api/redemption/', { query: { status_only: true }, body: { id, status } })
      const text = t(isEnabled ? 'redemptions.enabled' : 'redemptions.disabled', { name })
      showUndoable(text, () => setEnabled(redemption, !isEnabled))
    })
  }
  const remove = async ({ id, name }: Redemption) => {
    if (!(await confirmDelete(t('redemptions.deleteTitle', { name }), t('redemptions.deleteBody'))))
      return
    await run(async () => {
      await call('DELETE /api/redemption/:id/', { params: { id } })
      showSuccess(t('redemptions.deleted', { count: 1 }))
    })
  }
  const removeDisabled = async () => {
    const title = t('redemptions.deleteDisabledTitle')
    if (!(await confirmDelete(title, t('redemptions.deleteDisabledBody')))) return
    await run(async () => {
      const count = await call('DELETE /api/redemption/delete-disabled')
      showSuccess(t('redemptions.deleted', { count }))
    })
  }
  const disable = (redemptions: readonly Redemption[]) =>
    run(async () => {
      const body = { ids: redemptions.map(({ id }) => id) }
      const count = await call('PUT /api/redemption/batch-disable', { body })
      showSuccess(t('redemptions.disabledMany', { count }))
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

async function copyKeys(redemptions: readonly Redemption[]): Promise<void> {
  const text = redemptions.map(({ key }) => key).join('\n')
  const message = translate('redemptions.keysCopied', { count: redemptions.length })
  if (await copyText(text)) showSuccess(message)
}

import { translate } from '#console/i18n/i18n.ts'
import { confirm } from './confirm.tsx'

export function confirmDiscard(hasUnsavedChanges: boolean): Promise<boolean> {
  if (!hasUnsavedChanges) return Promise.resolve(true)
  return confirm({
    title: translate('ui.unsavedTitle'),
    body: translate('ui.unsavedBody'),
    confirmText: translate('ui.unsavedLeave'),
    cancelText: translate('ui.unsavedStay'),
    tone: 'danger',
  })
}

import { translate } from '#console/i18n/i18n.ts'
import { confirm } from '../dialogs/confirm.tsx'
import type { MenuEntry } from '../elements/menu.tsx'
import { showSuccess } from '../messages/toast.ts'

export const editEntry = (onChoose: () => void): MenuEntry => ({
  text: translate('ui.editRow'),
  icon: 'edit',
  onChoose,
})

export const deleteEntry = (onChoose: () => void): MenuEntry => ({
  text: translate('shared.delete'),
  icon: 'trash',
  tone: 'danger',
  onChoose,
})

export const confirmDelete = (title: string, body: string): Promise<boolean> =>
  confirm({ title, body, confirmText: translate('shared.delete'), tone: 'danger' })

export function showUndoable(message: string, undo: () => unknown): void {
  const action = { text: translate('shared.undo'), onClick: () => void undo() }
  showSuccess(message, { action })
}

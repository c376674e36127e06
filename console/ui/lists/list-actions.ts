import { translate } from '#console/i18n/i18n.ts'
import { confirm } from '../dialogs/confirm.tsx'
import type { MenuEntry } from '../elements/menu.tsx'
import { showSuccess } from '../messages/toast.ts'

export const editEntry = (onSelect: () => void): MenuEntry => ({
  text: translate('ui.editRow'),
  icon: 'edit',
  onSelect,
})

export const deleteEntry = (onSelect: () => void): MenuEntry => ({
  text: translate('shared.delete'),
  icon: 'trash',
  tone: 'danger',
  onSelect,
})

export const confirmDelete = (title: string, body: string): Promise<boolean> =>
  confirm({ title, body, confirmText: translate('shared.delete'), tone: 'danger' })

export function showUndoable(message: string, undo: () => unknown): void {
  const action = { text: translate('shared.undo'), onClick: () => void undo() }
  showSuccess(message, { action })
}

import { translate } from '#console/i18n/i18n.ts'
import type { Action } from '../actions/action-registry.ts'
import { confirm } from '../dialogs/confirm.tsx'
import { showSuccess } from '../messages/toast.ts'

export const editAction = (
  perform: () => void,
  title: string = translate('ui.editRow'),
): Action => ({
  title,
  icon: 'edit',
  isOnTable: true,
  perform,
})

export const deleteAction = (
  perform: () => void,
  title: string = translate('shared.delete'),
): Action => ({
  title,
  icon: 'trash',
  tone: 'danger',
  perform,
})

export const confirmDelete = (title: string, body: string): Promise<boolean> =>
  confirm({ title, body, confirmText: translate('shared.delete'), tone: 'danger' })

export function showUndoable(message: string, undo: () => unknown): void {
  const action = { text: translate('shared.undo'), onClick: () => void undo() }
  showSuccess(message, { action })
}

import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { ChoosableChannel } from './channel-lines.ts'
import { useChannelAction } from './use-channel-action.ts'

export type Removals = {
  /**
   * Deletes channels and returns true on success. If no channel is selected, only shows a message.
   */
  remove: (channels: readonly ChoosableChannel[]) => Promise<boolean>
  removeDisabled: () => Promise<void>
}

/** Deletions of channels, each after a confirmation. */
export function useRemovals(): Removals {
  const { t } = useTranslation()
  const act = useChannelAction()
  const danger = { confirmText: t('words.delete'), tone: 'danger' } as const
  const removing = (counted: () => Promise<number>) =>
    act(async () => showSuccess(t('channels.deleted', { count: await counted() })))
  const remove = async (channels: readonly ChoosableChannel[]) => {
    const [first] = channels
    if (first === undefined) {
      showError(t('channels.chooseFirst'))
      return false
    }
    const isOne = channels.length === 1
    const title = isOne
      ? t('channels.deleteTitle', { name: first.name })
      : t('channels.deleteManyTitle', { count: channels.length })
    if (!(await confirm({ title, body: t('channels.deleteBody'), ...danger }))) return false
    if (isOne)
      return removing(() =>
        call('DELETE /api/channel/:id/', { params: { id: first.id } }).then(() => 1),
      )
    return removing(() =>
      call('POST /api/channel/batch', { body: { ids: channels.map(({ id }) => id) } }),
    )
  }
  const removeDisabled = async () => {
    const title = t('channels.deleteDisabledTitle')
    const body = t('channels.deleteDisabledBody')
    if (await confirm({ title, body, ...danger }))
      await removing(() => call('DELETE /api/channel/disabled'))
  }
  return { remove, removeDisabled }
}

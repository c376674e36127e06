import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { confirmDelete } from '#console/ui/lists/list-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { ChoosableChannel } from './channel-lines.ts'
import { useChannelAction } from './use-channel-action.ts'

/** Deletions of channels, each after a confirmation. */
export function useRemovals() {
  const { t } = useTranslation()
  const act = useChannelAction()
  const removing = (counted: () => Promise<number>) =>
    act(async () => showSuccess(t('channels.deleted', { count: await counted() })))
  /** Returns true if the channels were deleted. */
  const remove = async (channels: readonly ChoosableChannel[]) => {
    const ids = channels.map(({ id }) => id)
    const [id, ...others] = ids
    const title =
      others.length === 0
        ? t('channels.deleteTitle', { name: channels[0]?.name })
        : t('channels.deleteManyTitle', { count: channels.length })
    if (!(await confirmDelete(title, t('channels.deleteBody')))) return false
    return removing(() =>
      others.length === 0
        ? call('DELETE /api/channel/:id/', { params: { id } }).then(() => 1)
        : call('POST /api/channel/batch', { body: { ids } }),
    )
  }
  const removeDisabled = async () => {
    const title = t('channels.deleteDisabledTitle')
    if (await confirmDelete(title, t('channels.deleteDisabledBody')))
      await removing(() => call('DELETE /api/channel/disabled'))
  }
  return { remove, removeDisabled }
}

import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { showUndoable } from '#console/ui/lists/list-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { useBulkActions, useBulkDeletion } from './use-bulk-actions.ts'
import { useChannelMutation } from './use-channel-mutation.ts'
import { useSingleChannelActions } from './use-single-channel-actions.ts'

/**
 * Returns a function that sets the priority or the weight of all channels of a tag. If the channels
 * have different values, the change can't be undone, so the user is asked to confirm it.
 */
function useSetTagNumber() {
  const { t } = useTranslation()
  const perform = useChannelMutation()
  const set = (tag: string, field: 'priority' | 'weight', value: number) =>
    perform(() => call('PUT /api/channel/tag', { body: { tag, [field]: value } }))
  return async (group: TagGroup, field: 'priority' | 'weight', value: number) => {
    const { tag, members } = group
    const before = group[field]
    const title = t(`channels.${field}ForAll`, { tag, count: members.length, value })
    const body = t('channels.forAllBody')
    if (before === null && !(await confirm({ title, body }))) return
    if (!(await set(tag, field, value))) return
    const message = t(`channels.${field}Changed`, { name: tag, value })
    if (before === null) showSuccess(message)
    else showUndoable(message, () => set(tag, field, before))
  }
}

type Handlers = Record<
  'onEdit' | 'onTest' | 'onUnpriced' | 'onTimeline',
  (channel: Channel) => void
> &
  Record<'onEditTag' | 'onOpenTag', (group: TagGroup) => void>

export type ChannelListActions = ReturnType<typeof useChannelListActions>

export const useChannelListActions = (handlers: Handlers) =>
  useStableCallbacks({
    ...handlers,
    ...useSingleChannelActions(),
    ...useBulkActions(),
    ...useBulkDeletion(),
    setTagNumber: useSetTagNumber(),
  })

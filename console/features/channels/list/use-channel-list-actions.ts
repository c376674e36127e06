import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsKey, updateChannel } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { showUndoable } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { changeChannels } from './channel-rows.ts'
import { useBulkActions, useBulkDeletion } from './use-bulk-actions.ts'
import { useChannelMutation } from './use-channel-mutation.ts'

/**
 * Returns a function that sets the priority or the weight of all channels of a tag. The user must
 * confirm the change if the channels have different values, because these values would be lost.
 */
function useSetTagPriorityOrWeight() {
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
    setTagNumber: useSetTagPriorityOrWeight(),
  })

type NumberField = 'priority' | 'weight'

const AUTO_DISABLED = 3

/**
 * Returns the actions that change or copy a single channel, or read its balance from the provider.
 * The list shows a new status, priority or weight immediately. If the server refuses the change,
 * the list shows the old value again.
 */
function useSingleChannelActions() {
  const { t } = useTranslation()
  const change = useOptimisticChange()
  const perform = useChannelMutation()
  const setEnabled = async (channel: Channel, isEnabled: boolean): Promise<void> => {
    const status = isEnabled ? 1 : 2
    const { name } = channel
    if (!(await change(channel, { status }))) return
    const message = t(isEnabled ? 'shared.enabledNamed' : 'shared.disabledNamed', { name })
    // No undo is offered, because it could not restore the status of an automatically disabled
    // channel.
    if (channel.status === AUTO_DISABLED) return showSuccess(message)
    showUndoable(message, () => setEnabled({ ...channel, status }, !isEnabled))
  }
  const setNumber = async (channel: Channel, field: NumberField, value: number): Promise<void> => {
    const before = channel[field]
    if (!(await change(channel, { [field]: value }))) return
    showUndoable(t(`channels.${field}Changed`, { name: channel.name, value }), () =>
      setNumber({ ...channel, [field]: value }, field, before),
    )
  }
  const copy = async ({ id, name }: Channel) => {
    if (await perform(() => call('POST /api/channel/copy/:id', { params: { id } })))
      showSuccess(t('channels.duplicated', { name }))
  }
  const updateBalance = async ({ id, name }: Channel) => {
    if (await perform(() => call('GET /api/channel/update_balance/:id/', { params: { id } })))
      showSuccess(t('channels.balanceUpdated', { name }))
  }
  return { setEnabled, setNumber, copy, updateBalance }
}

function useOptimisticChange() {
  const client = useQueryClient()
  const perform = useChannelMutation()
  const show = (id: number, patch: Partial<Channel>) =>
    changeChannels(client, (row) => (row.id === id ? { ...row, ...patch } : row))
  return ({ id, status, priority, weight }: Channel, patch: Partial<Channel>) =>
    perform(async () => {
      await client.cancelQueries({ queryKey: channelsKey })
      show(id, patch)
      try {
        await updateChannel({ id, ...patch })
      } catch (error) {
        show(id, { status, priority, weight })
        throw error
      }
    })
}

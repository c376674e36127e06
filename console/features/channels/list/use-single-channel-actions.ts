import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsKey, updateChannel } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { showUndoable } from '#console/ui/lists/list-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { changeChannels } from './channel-rows.ts'
import { useChannelMutation } from './use-channel-mutation.ts'

type NumberField = 'priority' | 'weight'

const AUTO_DISABLED = 3

/**
 * Returns the actions that change or copy a single channel. The list shows a new status, priority
 * or weight immediately. If the server refuses the change, the list shows the old value again.
 */
export function useSingleChannelActions() {
  const { t } = useTranslation()
  const change = useOptimisticChange()
  const perform = useChannelMutation()
  const setEnabled = async (channel: Channel, isEnabled: boolean): Promise<void> => {
    const status = isEnabled ? 1 : 2
    const { name } = channel
    if (!(await change(channel, { status }))) return
    const message = t(isEnabled ? 'shared.enabledNamed' : 'shared.disabledNamed', { name })
    // An undo is not offered, because it could not restore the status of an automatically disabled
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

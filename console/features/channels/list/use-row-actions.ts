import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsKey, updateChannel } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import type { ListPage } from '#console/api/request.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Channel, ChannelEntry } from '#read-api/contract/channels.ts'
import { withChannels } from './cached-channels.ts'
import { useChannelAction } from './use-channel-action.ts'

type Patch = Partial<Pick<Channel, 'status' | 'priority' | 'weight'>>

export type RowActs = {
  setEnabled: (channel: Channel, isEnabled: boolean) => Promise<void>
  setNumber: (channel: Channel, field: 'priority' | 'weight', value: number) => Promise<void>
  copy: (channel: Channel) => Promise<void>
}

const AUTO_DISABLED = 3

/** Actions on one channel. Its row changes immediately, and changes back if the action fails. */
export function useRowActions(): RowActs {
  const { t } = useTranslation()
  const change = useOptimisticChange()
  const act = useChannelAction()
  const setEnabled = async (channel: Channel, isEnabled: boolean): Promise<void> => {
    const status = isEnabled ? 1 : 2
    if (!(await change(channel, { status }))) return
    const words = t(isEnabled ? 'words.enabledNamed' : 'words.disabledNamed', {
      name: channel.name,
    })
    // Offer no undo, because an undo cannot restore automatic disabling.
    if (channel.status === AUTO_DISABLED) return showSuccess(words)
    const undo = () => void setEnabled({ ...channel, status }, !isEnabled)
    showSuccess(words, { action: { text: t('words.undo'), onClick: undo } })
  }
  const setNumber: RowActs['setNumber'] = async (channel, field, value) => {
    const before = channel[field]
    if (!(await change(channel, { [field]: value }))) return
    const undo = () => void setNumber({ ...channel, [field]: value }, field, before)
    showSuccess(t(`channels.${field}Changed`, { name: channel.name, value }), {
      action: { text: t('words.undo'), onClick: undo },
    })
  }
  const copy = async ({ id, name }: Channel) => {
    if (await act(() => call('POST /api/channel/copy/:id', { params: { id: id } })))
      showSuccess(t('channels.copied', { name }))
  }
  return { setEnabled, setNumber, copy }
}

function useOptimisticChange(): (channel: Channel, patch: Patch) => Promise<boolean> {
  const client = useQueryClient()
  const act = useChannelAction()
  const show = (id: number, patch: Patch) =>
    client.setQueriesData<ListPage<ChannelEntry>>({ queryKey: channelsKey }, (page) =>
      withChannels(page, (row) => (row.id === id ? { ...row, ...patch } : row)),
    )
  return (channel, patch) =>
    act(async () => {
      await client.cancelQueries({ queryKey: channelsKey })
      show(channel.id, patch)
      try {
        await updateChannel({ id: channel.id, ...patch })
      } catch (error) {
        const { status, priority, weight } = channel
        show(channel.id, { status, priority, weight })
        throw error
      }
    })
}

import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import {
  deleteChannel,
  deleteChannels,
  deleteDisabledChannels,
} from '#console/api/channels/delete-channels.ts'
import { type ChannelPage, channelsKey } from '#console/api/channels/list-channels.ts'
import { updateChannel } from '#console/api/channels/update-channel.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { Channel } from '#read-api/contract/channel.ts'

type Patch = Partial<Pick<Channel, 'status' | 'priority' | 'weight'>>

export type ChannelActions = {
  setEnabled: (channel: Channel, isEnabled: boolean) => Promise<void>
  setNumber: (channel: Channel, field: 'priority' | 'weight', value: number) => Promise<void>
  remove: (channels: readonly Channel[]) => Promise<boolean>
  removeDisabled: () => Promise<void>
}

/** What can be done to channels of the list; it shows at once, and is taken back on failure. */
export function useChannelActions(): ChannelActions {
  const { t } = useTranslation()
  const change = useOptimisticChange()
  const { remove, removeDisabled } = useRemovals()
  const setEnabled = async (channel: Channel, isEnabled: boolean): Promise<void> => {
    const status = isEnabled ? 1 : 2
    if (!(await change(channel, { status }))) return
    const undo = () => void setEnabled({ ...channel, status }, !isEnabled)
    showSuccess(t(isEnabled ? 'channels.enabled' : 'channels.disabled', { name: channel.name }), {
      action: { text: t('ui.undo'), onClick: undo },
    })
  }
  const setNumber: ChannelActions['setNumber'] = async (channel, field, value) => {
    const before = channel[field]
    if (!(await change(channel, { [field]: value }))) return
    const undo = () => void setNumber({ ...channel, [field]: value }, field, before)
    showSuccess(t(`channels.${field}Changed`, { name: channel.name, value }), {
      action: { text: t('ui.undo'), onClick: undo },
    })
  }
  return { setEnabled, setNumber, remove, removeDisabled }
}

function useOptimisticChange(): (channel: Channel, patch: Patch) => Promise<boolean> {
  const { t } = useTranslation()
  const client = useQueryClient()
  const show = (id: number, patch: Patch) =>
    client.setQueriesData<ChannelPage>({ queryKey: channelsKey }, (page) => {
      if (page === undefined) return undefined
      const items = page.items.map((row) => (row.id === id ? { ...row, ...patch } : row))
      return { ...page, items }
    })
  return async (channel, patch) => {
    await client.cancelQueries({ queryKey: channelsKey })
    show(channel.id, patch)
    try {
      await updateChannel({ id: channel.id, ...patch })
      return true
    } catch (error) {
      const { status, priority, weight } = channel
      show(channel.id, { status, priority, weight })
      showError(isMissing(error) ? t('channels.missing') : error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: channelsKey })
    }
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404

function useRemovals(): Pick<ChannelActions, 'remove' | 'removeDisabled'> {
  const { t } = useTranslation()
  const client = useQueryClient()
  const act = async (removing: () => Promise<number>): Promise<boolean> => {
    try {
      showSuccess(t('channels.deleted', { count: await removing() }))
      return true
    } catch (error) {
      showError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: channelsKey })
    }
  }
  const danger = { confirmText: t('channels.delete'), tone: 'danger' } as const
  const remove = async (channels: readonly Channel[]) => {
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
    if (isOne) return act(() => deleteChannel(first.id).then(() => 1))
    return act(() => deleteChannels(channels.map(({ id }) => id)))
  }
  const removeDisabled = async () => {
    const title = t('channels.deleteDisabledTitle')
    const body = t('channels.deleteDisabledBody')
    if (await confirm({ title, body, ...danger })) await act(deleteDisabledChannels)
  }
  return { remove, removeDisabled }
}

import { useTranslation } from 'react-i18next'
import { setChannelsStatus } from '#console/api/channels/set-channels-status.ts'
import { tagChannels } from '#console/api/channels/tag-channels.ts'
import { updateChannel } from '#console/api/channels/update-channel.ts'
import { setTagEnabled } from '#console/api/channels/update-tag.ts'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { TagGroup, TagMember } from '#read-api/contract/channel.ts'
import type { ChoosableChannel } from './channel-lines.ts'
import { useChannelAct } from './use-channel-act.ts'

export type BatchActs = {
  /** Answer whether it was done; nothing chosen is said. */
  setEnabled: (channels: readonly ChoosableChannel[], isEnabled: boolean) => Promise<boolean>
  setTag: (channels: readonly ChoosableChannel[], tag: string) => Promise<boolean>
  setGroupEnabled: (group: TagGroup, isEnabled: boolean) => Promise<void>
}

/** What is done to many channels at once, all or none; each can be undone. */
export function useBatchActs(): BatchActs {
  const { t } = useTranslation()
  const act = useChannelAct()
  const offerUndo = (message: string, undo: () => Promise<unknown>) =>
    showSuccess(message, { action: { text: t('ui.undo'), onClick: () => void act(undo) } })
  return {
    setEnabled: async (channels, isEnabled) => {
      if (channels.length === 0) {
        showError(t('channels.chooseForStatus'))
        return false
      }
      const status = isEnabled ? 1 : 2
      if (!(await act(() => setChannelsStatus({ ids: idsOf(channels), status })))) return false
      const words = isEnabled ? 'channels.enabledMany' : 'channels.disabledMany'
      offerUndo(t(words, { count: channels.length }), () => undoStatus(channels, isEnabled))
      return true
    },
    setTag: async (channels, tag) => {
      if (!(await act(() => tagChannels(idsOf(channels), tag)))) return false
      const message = t('channels.taggedMany', { count: channels.length, tag })
      offerUndo(message, () => undoTags(channels))
      return true
    },
    setGroupEnabled: async ({ tag, members }, isEnabled) => {
      if (!(await act(() => setTagEnabled(tag, isEnabled)))) return
      const words = isEnabled ? 'channels.tagEnabledDone' : 'channels.tagDisabledDone'
      offerUndo(t(words, { tag }), () => undoStatus(members, isEnabled))
    },
  }
}

const idsOf = (channels: readonly TagMember[]): number[] => channels.map(({ id }) => id)

/** Only those that were changed go back. */
async function undoStatus(channels: readonly TagMember[], wasEnabled: boolean): Promise<void> {
  const changed = channels.filter(({ status }) => (status === 1) !== wasEnabled)
  if (changed.length === 0) return
  await setChannelsStatus({ ids: idsOf(changed), status: wasEnabled ? 2 : 1 })
}

/** A tag is given to many at once, and taken off one by one. */
async function undoTags(channels: readonly ChoosableChannel[]): Promise<void> {
  for (const [tag, tagged] of Map.groupBy(channels, (channel) => channel.tag)) {
    if (tag !== '') await tagChannels(idsOf(tagged), tag)
    else for (const id of idsOf(tagged)) await updateChannel({ id, tag: '' })
  }
}

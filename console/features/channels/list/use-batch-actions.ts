import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsOfTagQuery, wholeChannels } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { showError, showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { TagGroup, TagMember } from '#read-api/contract/channels.ts'
import type { ChoosableChannel } from './channel-lines.ts'
import { useChannelAction } from './use-channel-action.ts'

export type BatchActs = {
  /**
   * Enables or disables channels and returns true on success. If no channel is selected, only shows
   * a message.
   */
  setEnabled: (channels: readonly ChoosableChannel[], isEnabled: boolean) => Promise<boolean>
  setTag: (channels: readonly ChoosableChannel[], tag: string) => Promise<boolean>
  setGroupEnabled: (group: TagGroup, isEnabled: boolean) => Promise<void>
}

/** Actions on many channels. An action changes all channels or none, and offers an undo. */
export function useBatchActions(): BatchActs {
  const { t } = useTranslation()
  const act = useChannelAction()
  const { switched, switchedTag } = useSwitched()
  const offerUndo = useUndo()
  return {
    setEnabled: async (channels, isEnabled) => {
      if (channels.length === 0) {
        showError(t('channels.chooseForStatus'))
        return false
      }
      const ids = idsOf(channels)
      return act(async () =>
        switched(
          await call('POST /api/channel/batch/status', {
            body: { ids, status: isEnabled ? 1 : 2 },
          }),
          channels,
          isEnabled,
        ),
      )
    },
    setTag: async (channels, tag) => {
      if (
        !(await act(() =>
          call('POST /api/channel/batch/tag', { body: { ids: idsOf(channels), tag: tag } }),
        ))
      )
        return false
      const message = t('channels.taggedMany', { count: channels.length, tag })
      offerUndo(message, () => undoTags(channels))
      return true
    },
    setGroupEnabled: async (group, isEnabled) => {
      await act(async () =>
        switchedTag(
          await call(`POST /api/channel/tag/${isEnabled ? 'enabled' : 'disabled'}`, {
            body: { tag: group.tag },
          }),
          group,
          isEnabled,
        ),
      )
    },
  }
}

/** Shows how many channels an action enabled or disabled, and offers an undo. */
function useSwitched() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const offerUndo = useUndo()
  const none = (isEnabled: boolean) =>
    showInfo(t(isEnabled ? 'channels.nothingToEnable' : 'channels.nothingToDisable'))
  return {
    switched: (count: number, channels: readonly TagMember[], isEnabled: boolean) => {
      if (count === 0) return none(isEnabled)
      const words = isEnabled ? 'channels.enabledMany' : 'channels.disabledMany'
      if (isEnabled && channels.some(wasAutoDisabled)) return showSuccess(t(words, { count }))
      offerUndo(t(words, { count }), () => undoStatus(channels, isEnabled))
    },
    switchedTag: (count: number, { tag, members }: TagGroup, isEnabled: boolean) => {
      if (count === 0) return none(isEnabled)
      const words = isEnabled ? 'channels.tagEnabledDone' : 'channels.tagDisabledDone'
      if (isEnabled && members.some(wasAutoDisabled)) return showSuccess(t(words, { tag, count }))
      offerUndo(t(words, { tag, count }), async () => {
        // The server did not enable expired channels, so the undo must not change them.
        const page = await client.fetchQuery({ ...channelsOfTagQuery(tag), staleTime: 0 })
        const isSo = ({ status }: TagMember) => (status === 1) === isEnabled
        const changed = new Set(wholeChannels(page).filter(isSo).map(idOf))
        await undoStatus(
          members.filter(({ id }) => changed.has(id)),
          isEnabled,
        )
      })
    },
  }
}

function useUndo(): (message: string, undo: () => Promise<unknown>) => void {
  const { t } = useTranslation()
  const act = useChannelAction()
  return (message, undo) =>
    showSuccess(message, { action: { text: t('words.undo'), onClick: () => void act(undo) } })
}

/** True if the system has disabled the channel. An undo cannot restore automatic disabling. */
const wasAutoDisabled = ({ status }: TagMember): boolean => status === 3

const idOf = ({ id }: TagMember): number => id
const idsOf = (channels: readonly TagMember[]): number[] => channels.map(idOf)

async function undoStatus(channels: readonly TagMember[], wasEnabled: boolean): Promise<void> {
  const changed = channels.filter(({ status }) => (status === 1) !== wasEnabled)
  if (changed.length === 0) return
  await call('POST /api/channel/batch/status', {
    body: { ids: idsOf(changed), status: wasEnabled ? 2 : 1 },
  })
}

/** Restores the old tags with one request per tag. */
async function undoTags(channels: readonly ChoosableChannel[]): Promise<void> {
  for (const [tag, tagged] of Map.groupBy(channels, (channel) => channel.tag)) {
    await call('POST /api/channel/batch/tag', {
      body: { ids: idsOf(tagged), tag: tag === '' ? null : tag },
    })
  }
}

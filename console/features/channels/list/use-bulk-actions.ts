import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { channelsOfPage, channelsOfTagQuery, isWorkInFlight } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { confirmDelete, showUndoable } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { TagGroup, TagMember } from '#read-api/contract/channels.ts'
import type { SelectableChannel } from './channel-rows.ts'
import { useChannelMutation } from './use-channel-mutation.ts'

/**
 * Returns the actions on several channels. An action that fails changes no channel. When all
 * channels of a tag are enabled, expired channels are left out.
 */
export function useBulkActions() {
  const perform = useChannelMutation()
  const { t } = useTranslation()
  const { switched, switchedTag } = useSwitchNotifications()
  const offerUndo = useUndo()
  return {
    /** Enables or disables channels. Returns true on success, as the other actions do. */
    setAllEnabled: (channels: readonly SelectableChannel[], isEnabled: boolean) =>
      perform(async () => {
        const body = { ids: idsOf(channels), status: isEnabled ? 1 : 2 } as const
        switched(await call('POST /api/channel/batch/status', { body }), channels, isEnabled)
      }),
    setTag: async (channels: readonly SelectableChannel[], tag: string) => {
      const body = { ids: idsOf(channels), tag }
      if (!(await perform(() => call('POST /api/channel/batch/tag', { body })))) return false
      const message = t('channels.taggedMany', { count: channels.length, tag })
      offerUndo(message, () => undoTags(channels))
      return true
    },
    setGroupEnabled: (group: TagGroup, isEnabled: boolean) =>
      perform(async () => {
        const name = `POST /api/channel/tag/${isEnabled ? 'enabled' : 'disabled'}` as const
        switchedTag(await call(name, { body: { tag: group.tag } }), group, isEnabled)
      }),
  }
}

function useSwitchNotifications() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const offerUndo = useUndo()
  const none = (isEnabled: boolean) =>
    showInfo(t(isEnabled ? 'channels.nothingToEnable' : 'channels.nothingToDisable'))
  return {
    switched: (count: number, channels: readonly TagMember[], isEnabled: boolean) => {
      if (count === 0) return none(isEnabled)
      const textKey = isEnabled ? 'channels.enabledMany' : 'channels.disabledMany'
      if (isEnabled && channels.some(wasAutoDisabled)) return showSuccess(t(textKey, { count }))
      offerUndo(t(textKey, { count }), () => undoStatus(channels, isEnabled))
    },
    switchedTag: (count: number, { tag, members }: TagGroup, isEnabled: boolean) => {
      if (count === 0) return none(isEnabled)
      const textKey = isEnabled ? 'channels.tagEnabledDone' : 'channels.tagDisabledDone'
      if (isEnabled && members.some(wasAutoDisabled)) return showSuccess(t(textKey, { tag, count }))
      offerUndo(t(textKey, { tag, count }), async () => {
        // The server does not enable expired channels, so the undo leaves them out.
        const page = await client.fetchQuery({ ...channelsOfTagQuery(tag), staleTime: 0 })
        const hasNewStatus = ({ status }: TagMember) => (status === 1) === isEnabled
        const changed = new Set(channelsOfPage(page).filter(hasNewStatus).map(idOf))
        await undoStatus(
          members.filter(({ id }) => changed.has(id)),
          isEnabled,
        )
      })
    },
  }
}

function useUndo() {
  const perform = useChannelMutation()
  return (message: string, undo: () => Promise<unknown>) =>
    showUndoable(message, () => perform(undo))
}

/**
 * Reports whether the channel was automatically disabled before the action. A request can't set
 * this status, so an undo can't restore it.
 */
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

async function undoTags(channels: readonly SelectableChannel[]): Promise<void> {
  for (const [tag, tagged] of Map.groupBy(channels, (channel) => channel.tag)) {
    await call('POST /api/channel/batch/tag', {
      body: { ids: idsOf(tagged), tag: tag === '' ? null : tag },
    })
  }
}

/**
 * Deletes channels and returns the number of deleted channels. If a channel has unfinished work,
 * the server refuses the deletion unless `isForced` is true.
 */
type Removal = (isForced: boolean) => Promise<number>

export function useBulkDeletion() {
  const { t } = useTranslation()
  const perform = useChannelMutation()
  const removing = async (remove: Removal): Promise<boolean> => {
    let isRemoved = false
    await perform(async () => {
      const count = await remove(false).catch(async (error: unknown) => {
        if (!isWorkInFlight(error)) throw error
        const title = t('channels.forceDeleteTitle')
        const isConfirmed = await confirm({
          ...{ title, body: error.message, confirmText: t('channels.forceDelete') },
          tone: 'danger',
        })
        return isConfirmed ? remove(true) : null
      })
      isRemoved = count !== null
      if (count !== null) showSuccess(t('channels.deleted', { count }))
    })
    return isRemoved
  }
  const remove = async (channels: readonly SelectableChannel[]) => {
    const [first, ...others] = channels
    if (first === undefined) return false
    const isSingle = others.length === 0
    const title = isSingle
      ? t('channels.deleteTitle', { name: first.name })
      : t('channels.deleteManyTitle', { count: channels.length })
    if (!(await confirmDelete(title, t('channels.deleteBody')))) return false
    return removing((isForced) => {
      const force = isForced ? { force: true } : {}
      const ids = channels.map(({ id }) => id)
      return isSingle
        ? call('DELETE /api/channel/:id/', { params: { id: first.id }, query: force }).then(() => 1)
        : call('POST /api/channel/batch', { body: { ids, ...force } })
    })
  }
  const removeDisabled = async () => {
    const title = t('channels.deleteDisabledTitle')
    if (await confirmDelete(title, t('channels.deleteDisabledBody')))
      await removing((isForced) =>
        call('DELETE /api/channel/disabled', { query: isForced ? { force: true } : {} }),
      )
  }
  return { remove, removeDisabled }
}

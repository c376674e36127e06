import { useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import type { ChannelActions } from './channel-actions.ts'
import { useBalanceActions } from './use-balance-actions.ts'
import { useBatchActions } from './use-batch-actions.ts'
import { useChannelAction } from './use-channel-action.ts'
import type { Removals } from './use-removals.ts'
import { useRowActions } from './use-row-actions.ts'

type SetGroupNumber = (
  group: TagGroup,
  field: 'priority' | 'weight',
  value: number,
) => Promise<void>

/**
 * Returns a function that sets a number for all channels of a tag. Asks for confirmation if their
 * numbers differ; otherwise offers an undo.
 */
function useGroupNumber(): SetGroupNumber {
  const { t } = useTranslation()
  const act = useChannelAction()
  const set = (tag: string, field: 'priority' | 'weight', value: number) =>
    act(() => call('PUT /api/channel/tag', { body: { tag, [field]: value } }))
  return async ({ tag, members, ...group }, field, value) => {
    const before = group[field]
    const title = t(`channels.${field}ForAll`, { tag, count: members.length, value })
    const body = t('channels.forAllBody')
    if (before === null && !(await confirm({ title, body }))) return
    if (!(await set(tag, field, value))) return
    const message = t(`channels.${field}Changed`, { name: tag, value })
    if (before === null) showSuccess(message)
    else {
      const undo = () => void set(tag, field, before)
      showSuccess(message, { action: { text: t('words.undo'), onClick: undo } })
    }
  }
}

type Given = {
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onUnpriced: (channel: Channel) => void
  onTimeline: (channel: Channel) => void
  onEditTag: (group: TagGroup) => void
  onOpenTag: (group: TagGroup) => void
  remove: Removals['remove']
}

/** Returns the row actions as one stable object. A new object would render all rows again. */
export function useChannelActions(given: Given): ChannelActions {
  const row = useRowActions()
  const batch = useBatchActions()
  const setGroupNumber = useGroupNumber()
  const { updateOne } = useBalanceActions()
  const now = { ...given, ...row, ...batch, setGroupNumber, updateOne, setRow: row.setEnabled }
  const latest = useRef(now)
  latest.current = now
  return useMemo(
    () => ({
      onToggle: (channel) => void latest.current.setRow(channel, channel.status !== 1),
      onNumber: (channel, field, value) => void latest.current.setNumber(channel, field, value),
      onEdit: (channel) => latest.current.onEdit(channel),
      onTest: (channel) => latest.current.onTest(channel),
      onUnpriced: (channel) => latest.current.onUnpriced(channel),
      onTimeline: (channel) => latest.current.onTimeline(channel),
      onCopy: (channel) => void latest.current.copy(channel),
      onBalance: (channel) => latest.current.updateOne(channel),
      onDelete: (channel) => void latest.current.remove([channel]),
      onOpenTag: (group) => latest.current.onOpenTag(group),
      onTagNumber: (group, field, value) => void latest.current.setGroupNumber(group, field, value),
      onTagEnabled: (group, isEnabled) => void latest.current.setGroupEnabled(group, isEnabled),
      onEditTag: (group) => latest.current.onEditTag(group),
    }),
    [],
  )
}

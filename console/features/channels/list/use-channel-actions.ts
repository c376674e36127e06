import { useMemo, useRef } from 'react'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import type { ChannelActions } from './channel-actions.ts'
import { useBalanceActions } from './use-balance-actions.ts'
import { useBatchActions } from './use-batch-actions.ts'
import { useGroupNumber } from './use-group-number.ts'
import type { Removals } from './use-removals.ts'
import { useRowActions } from './use-row-actions.ts'

type Given = {
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onTimeline: (channel: Channel) => void
  onEditTag: (group: TagGroup) => void
  onOpenTag: (group: TagGroup) => void
  remove: Removals['remove']
}

/** The actions of the rows: one object while the page is there, so that rows are not redrawn. */
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

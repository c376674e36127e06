import { useMemo, useRef } from 'react'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import type { ChannelDeeds } from './deeds.ts'
import { useBalanceActs } from './use-balance-acts.ts'
import { useBatchActs } from './use-batch-acts.ts'
import { useGroupNumber } from './use-group-number.ts'
import type { Removals } from './use-removals.ts'
import { useRowActs } from './use-row-acts.ts'

type Given = {
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onTimeline: (channel: Channel) => void
  onEditTag: (group: TagGroup) => void
  onOpenTag: (group: TagGroup) => void
  remove: Removals['remove']
}

/** The deeds of the rows: one object for as long as the page is there, so that rows stay drawn. */
export function useDeeds(given: Given): ChannelDeeds {
  const row = useRowActs()
  const batch = useBatchActs()
  const setGroupNumber = useGroupNumber()
  const { updateOne } = useBalanceActs()
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

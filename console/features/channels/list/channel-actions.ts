import type { Channel, TagGroup } from '#read-api/contract/channels.ts'

export type ChannelActions = {
  onToggle: (channel: Channel) => void
  onNumber: (channel: Channel, field: 'priority' | 'weight', value: number) => void
  onEdit: (channel: Channel) => void
  onTest: (channel: Channel) => void
  onUnpriced: (channel: Channel) => void
  onTimeline: (channel: Channel) => void
  onCopy: (channel: Channel) => void
  onBalance: (channel: Channel) => Promise<void>
  onDelete: (channel: Channel) => void
  onOpenTag: (group: TagGroup) => void
  onTagNumber: (group: TagGroup, field: 'priority' | 'weight', value: number) => void
  onTagEnabled: (group: TagGroup, isEnabled: boolean) => void
  onEditTag: (group: TagGroup) => void
}

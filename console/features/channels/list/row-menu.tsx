import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { type MenuEntry, RowMenu } from '#console/ui/menu.tsx'
import { RowSwitch } from '#console/ui/row-switch.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channel.ts'
import type { ChannelDeeds } from './deeds.ts'

/** On or off, and what else can be done to one channel. */
export function ChannelMenu(props: { channel: Channel; deeds: ChannelDeeds }): ReactElement {
  const { channel, deeds } = props
  const { t } = useTranslation()
  const { name } = channel
  const items: MenuEntry[] = [
    { id: 'test', text: t('channels.test'), icon: 'zap', onChoose: () => deeds.onTest(channel) },
    {
      id: 'timeline',
      text: t('channels.timeline'),
      icon: 'clock',
      onChoose: () => deeds.onTimeline(channel),
    },
    { id: 'edit', text: t('channels.edit'), icon: 'edit', onChoose: () => deeds.onEdit(channel) },
    { id: 'copy', text: t('channels.copy'), icon: 'copy', onChoose: () => deeds.onCopy(channel) },
    'divider',
    {
      id: 'delete',
      text: t('channels.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => deeds.onDelete(channel),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('channels.toggle', { name })}
        isOn={channel.status === 1}
        onToggle={() => deeds.onToggle(channel)}
      />
      <RowMenu items={items} label={t('channels.more', { name })} />
    </span>
  )
}

/** What can be done to all channels of a tag. */
export function TagMenu(props: { group: TagGroup; deeds: ChannelDeeds }): ReactElement {
  const { group, deeds } = props
  const { t } = useTranslation()
  const items: MenuEntry[] = [
    {
      id: 'edit',
      text: t('channels.editTag'),
      icon: 'edit',
      onChoose: () => deeds.onEditTag(group),
    },
    'divider',
    {
      id: 'enable',
      text: t('channels.enableAll'),
      icon: 'play',
      onChoose: () => deeds.onTagEnabled(group, true),
    },
    {
      id: 'disable',
      text: t('channels.disableAll'),
      icon: 'pause',
      onChoose: () => deeds.onTagEnabled(group, false),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowMenu items={items} label={t('channels.moreTag', { tag: group.tag })} />
    </span>
  )
}

import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { type MenuEntry, RowMenu } from '#console/ui/elements/menu.tsx'
import { RowSwitch } from '#console/ui/lists/row-switch.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import type { ChannelActions } from './channel-actions.ts'

export function ChannelMenu(props: { channel: Channel; actions: ChannelActions }): ReactElement {
  const { channel, actions } = props
  const { t } = useTranslation()
  const { name } = channel
  const items: MenuEntry[] = [
    { id: 'test', text: t('channels.test'), icon: 'zap', onChoose: () => actions.onTest(channel) },
    {
      id: 'timeline',
      text: t('channels.timeline'),
      icon: 'clock',
      onChoose: () => actions.onTimeline(channel),
    },
    { id: 'edit', text: t('ui.editRow'), icon: 'edit', onChoose: () => actions.onEdit(channel) },
    { id: 'copy', text: t('channels.copy'), icon: 'copy', onChoose: () => actions.onCopy(channel) },
    'divider',
    {
      id: 'delete',
      text: t('words.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => actions.onDelete(channel),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('words.enableNamed', { name })}
        isOn={channel.status === 1}
        onToggle={() => actions.onToggle(channel)}
      />
      <RowMenu items={items} label={t('words.moreActions', { name })} />
    </span>
  )
}

export function TagMenu(props: { group: TagGroup; actions: ChannelActions }): ReactElement {
  const { group, actions } = props
  const { t } = useTranslation()
  const items: MenuEntry[] = [
    {
      id: 'edit',
      text: t('channels.editTag'),
      icon: 'edit',
      onChoose: () => actions.onEditTag(group),
    },
    'divider',
    {
      id: 'enable',
      text: t('channels.enableAll'),
      icon: 'play',
      onChoose: () => actions.onTagEnabled(group, true),
    },
    {
      id: 'disable',
      text: t('channels.disableAll'),
      icon: 'pause',
      onChoose: () => actions.onTagEnabled(group, false),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowMenu items={items} label={t('channels.moreTag', { tag: group.tag })} />
    </span>
  )
}

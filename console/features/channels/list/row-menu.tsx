import { useTranslation } from 'react-i18next'
import { type MenuEntry, RowMenu } from '#console/ui/elements/menu.tsx'
import { deleteEntry, editEntry } from '#console/ui/lists/list-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-switch.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import type { ChannelActions } from './use-channel-actions.ts'

export function ChannelMenu(props: { channel: Channel; actions: ChannelActions }) {
  const { channel, actions } = props
  const { t } = useTranslation()
  const { name } = channel
  const items: MenuEntry[] = [
    { text: t('channels.test'), icon: 'zap', onSelect: () => actions.onTest(channel) },
    { text: t('channels.timeline'), icon: 'clock', onSelect: () => actions.onTimeline(channel) },
    editEntry(() => actions.onEdit(channel)),
    { text: t('channels.duplicate'), icon: 'copy', onSelect: () => void actions.copy(channel) },
    'divider',
    deleteEntry(() => void actions.remove([channel])),
  ]
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('shared.enableNamed', { name })}
        isOn={channel.status === 1}
        onToggle={() => void actions.setEnabled(channel, channel.status !== 1)}
      />
      <RowMenu items={items} label={t('shared.moreActions', { name })} />
    </span>
  )
}

export function TagMenu(props: { group: TagGroup; actions: ChannelActions }) {
  const { group, actions } = props
  const { t } = useTranslation()
  const items: MenuEntry[] = [
    { text: t('channels.editTag'), icon: 'edit', onSelect: () => actions.onEditTag(group) },
    'divider',
    {
      text: t('channels.enableAll'),
      icon: 'play',
      onSelect: () => void actions.setGroupEnabled(group, true),
    },
    {
      text: t('channels.disableAll'),
      icon: 'pause',
      onSelect: () => void actions.setGroupEnabled(group, false),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowMenu items={items} label={t('channels.moreTag', { tag: group.tag })} />
    </span>
  )
}

import { useTranslation } from 'react-i18next'
import { useHistoryActions } from '#console/ui/elements/history-link.tsx'
import { type MenuItem, RowMenu } from '#console/ui/elements/menu.tsx'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowSwitch } from '#console/ui/lists/row-actions.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import type { ChannelListActions } from './use-channel-list-actions.ts'

export function ChannelMenu(props: { channel: Channel; actions: ChannelListActions }) {
  const { channel, actions } = props
  const { t } = useTranslation()
  const { name } = channel
  const history = useHistoryActions(`channel:${channel.id}`)
  const items: MenuItem[] = [
    { title: t('channels.test'), icon: 'zap', perform: () => actions.onTest(channel) },
    { title: t('channels.timeline'), icon: 'clock', perform: () => actions.onTimeline(channel) },
    editAction(() => actions.onEdit(channel)),
    ...history,
    { title: t('channels.duplicate'), icon: 'copy', perform: () => void actions.copy(channel) },
    'divider',
    deleteAction(() => void actions.remove([channel])),
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

export function TagMenu(props: { group: TagGroup; actions: ChannelListActions }) {
  const { group, actions } = props
  const { t } = useTranslation()
  const items: MenuItem[] = [
    { title: t('channels.editTag'), icon: 'edit', perform: () => actions.onEditTag(group) },
    'divider',
    {
      title: t('channels.enableAll'),
      icon: 'play',
      perform: () => void actions.setGroupEnabled(group, true),
    },
    {
      title: t('channels.disableAll'),
      icon: 'pause',
      perform: () => void actions.setGroupEnabled(group, false),
    },
  ]
  return (
    <span className="tg-row-actions">
      <RowMenu items={items} label={t('channels.moreTag', { tag: group.tag })} />
    </span>
  )
}

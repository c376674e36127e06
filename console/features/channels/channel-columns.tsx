import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import type { Column } from '#console/ui/data-grid/column.ts'
import { MenuButton } from '#console/ui/menu.tsx'
import { Quota } from '#console/ui/quota.tsx'
import { RowSwitch } from '#console/ui/row-switch.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { Time } from '#console/ui/time.tsx'
import type { Channel } from '#read-api/contract/channel.ts'
import { ChannelStatus, InlineInteger, ResponseTime } from './channel-cells.tsx'
import { listOf } from './channel-draft.ts'
import { typeName } from './channel-types.ts'

export type ChannelDeeds = {
  onToggle: (channel: Channel) => void
  onNumber: (channel: Channel, field: 'priority' | 'weight', value: number) => void
  onEdit: (channel: Channel) => void
  onDelete: (channel: Channel) => void
}

type Rest = Partial<Column<Channel>> & Pick<Column<Channel>, 'width' | 'cell'>

const column = (id: string, title: string, rest: Rest): Column<Channel> => ({ id, title, ...rest })

/** The columns of the channel list, in their first order. */
export const channelColumns = (t: TFunction, deeds: ChannelDeeds): Column<Channel>[] => [
  ...namingColumns(t),
  ...routingColumns(t, deeds),
]

function routingColumns(t: TFunction, deeds: ChannelDeeds): Column<Channel>[] {
  const number = (field: 'priority' | 'weight', channel: Channel) => (
    <InlineInteger
      label={t(`channels.${field}Of`, { name: channel.name })}
      value={channel[field]}
      min={field === 'weight' ? 0 : -999_999_999}
      onSave={(value) => deeds.onNumber(channel, field, value)}
    />
  )
  return [
    column('priority', t('channels.priority'), {
      width: 84,
      cell: (channel) => number('priority', channel),
    }),
    column('weight', t('channels.weight'), {
      width: 84,
      cell: (channel) => number('weight', channel),
    }),
    column('response', t('channels.responseTime'), {
      width: 144,
      cell: (channel) => <ResponseTime milliseconds={channel.response_time} />,
    }),
    column('used', t('channels.usedQuota'), {
      width: 92,
      align: 'end',
      cell: (channel) => <Quota value={BigInt(channel.used_quota)} />,
    }),
    column('tag', t('channels.tag'), {
      width: 110,
      isHiddenAtFirst: true,
      cell: ({ tag }) => tag || '–',
    }),
    column('created', t('channels.created'), {
      width: 160,
      isHiddenAtFirst: true,
      cell: (channel) => <Time at={channel.created_time} style="stamp" />,
    }),
    column('actions', t('channels.actions'), {
      width: 104,
      isPinned: true,
      align: 'end',
      cell: (channel) => <ChannelMenu channel={channel} deeds={deeds} />,
    }),
  ]
}

function namingColumns(t: TFunction): Column<Channel>[] {
  return [
    column('id', t('channels.id'), { width: 56, align: 'end', cell: ({ id }) => id }),
    column('name', t('channels.name'), {
      width: 176,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: (channel) => <span className="tg-cell-strong">{channel.name}</span>,
    }),
    column('type', t('channels.type'), { width: 92, cell: ({ type }) => typeName(type) }),
    column('status', t('channels.status'), {
      width: 140,
      onCard: 'aside',
      cell: (channel) => <ChannelStatus channel={channel} />,
    }),
    column('groups', t('channels.groups'), {
      width: 100,
      cell: ({ group }) => <Names names={listOf(group)} />,
    }),
    column('models', t('channels.models'), {
      width: 140,
      cell: ({ models }) => <Names names={listOf(models)} />,
    }),
  ]
}

/** The first name, and how many more there are; all of them in the title. */
function Names({ names }: { names: readonly string[] }): ReactElement {
  const [first = '–', ...others] = names
  return (
    <span className="tg-name-cell" title={names.join('\n')}>
      <StatusTag tone="neutral" isPlain>
        {first}
      </StatusTag>
      {others.length > 0 && <span className="tg-more-count">+{others.length}</span>}
    </span>
  )
}

function ChannelMenu(props: { channel: Channel; deeds: ChannelDeeds }): ReactElement {
  const { channel, deeds } = props
  const { t } = useTranslation()
  const { name } = channel
  const items = [
    {
      id: 'edit',
      text: t('channels.edit'),
      icon: 'edit',
      onChoose: () => deeds.onEdit(channel),
    },
    'divider',
    {
      id: 'delete',
      text: t('channels.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => deeds.onDelete(channel),
    },
  ] as const
  return (
    <span className="tg-row-actions">
      <RowSwitch
        label={t('channels.toggle', { name })}
        isOn={channel.status === 1}
        onToggle={() => deeds.onToggle(channel)}
      />
      <MenuButton items={items}>
        <Button tone="quiet" size="small" icon="more" label={t('channels.more', { name })} />
      </MenuButton>
    </span>
  )
}

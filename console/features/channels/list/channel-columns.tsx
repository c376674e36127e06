import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import type { Column } from '#console/ui/data-grid/column.ts'
import { Time } from '#console/ui/elements/time.tsx'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { listOf } from '../form/channel-draft.ts'
import { Balance } from './balance-cell.tsx'
import type { ChannelActions } from './channel-actions.ts'
import {
  ChannelStatus,
  Expiry,
  LastTest,
  Names,
  ResponseTime,
  TagStatus,
} from './channel-cells.tsx'
import type { ChannelLine } from './channel-lines.ts'
import { InlineInteger } from './inline-integer.tsx'
import { ChannelName, TagName } from './name-cell.tsx'
import { ChannelMenu, TagMenu } from './row-menu.tsx'

export type ColumnFacts = {
  readonly nameOf: (type: number) => string
  readonly hasBalance: (type: number) => boolean
  readonly unpricedOf: (channel: Channel) => readonly string[]
}

type ChannelColumn = Column<ChannelLine>
type Cells = {
  readonly channel: (channel: Channel, isChild: boolean) => ReactNode
  /** Renders the cell in the row of a tag. Without this function, the cell is empty. */
  readonly tag?: (group: TagGroup, line: { isOpen: boolean; isLoading: boolean }) => ReactNode
}

const column = (
  id: string,
  title: string,
  rest: Omit<ChannelColumn, 'id' | 'title' | 'cell'>,
  cells: Cells,
): ChannelColumn => ({
  id,
  title,
  ...rest,
  cell: (line) =>
    line.kind === 'channel'
      ? cells.channel(line.channel, line.isChild)
      : cells.tag?.(line.group, line),
})

/**
 * The columns of the list in their default order. The id of a sortable column is the server's sort
 * name. `isBatch` adds checkboxes, which leave less width for names.
 */
export const channelColumns = (
  t: TFunction,
  types: ColumnFacts,
  actions: ChannelActions,
  isBatch: boolean,
): ChannelColumn[] => [
  ...namingColumns(t, types, actions, isBatch),
  ...routingColumns(t, actions),
  ...servingColumns(t),
  ...figureColumns(t, types, actions),
  column(
    'actions',
    t('words.actions'),
    { width: 96, isPinned: true, align: 'end', onCard: 'foot' },
    {
      channel: (channel) => <ChannelMenu channel={channel} actions={actions} />,
      tag: (group) => <TagMenu group={group} actions={actions} />,
    },
  ),
]

function namingColumns(
  t: TFunction,
  types: ColumnFacts,
  actions: ChannelActions,
  isBatch: boolean,
): ChannelColumn[] {
  return [
    column(
      'id',
      t('words.id'),
      { width: 56, align: 'end', isHiddenAtFirst: true },
      { channel: ({ id }) => id },
    ),
    column(
      'name',
      t('words.name'),
      { width: isBatch ? 118 : 156, isGrowing: true, isPinned: true, onCard: 'title' },
      {
        channel: (channel, isChild) => (
          <ChannelName
            channel={channel}
            isChild={isChild}
            unpriced={types.unpricedOf(channel).length}
            onUnpriced={() => actions.onUnpriced(channel)}
          />
        ),
        tag: (group, { isOpen, isLoading }) => (
          <TagName {...{ group, isOpen, isLoading }} onToggle={() => actions.onOpenTag(group)} />
        ),
      },
    ),
    column('type', t('words.type'), { width: 92 }, { channel: ({ type }) => types.nameOf(type) }),
    column(
      'status',
      t('words.status'),
      { width: 130, onCard: 'aside' },
      {
        channel: (channel) => <ChannelStatus channel={channel} />,
        tag: (group) => <TagStatus group={group} />,
      },
    ),
  ]
}

function routingColumns(t: TFunction, actions: ChannelActions): ChannelColumn[] {
  const number = (field: 'priority' | 'weight') => {
    const min = field === 'weight' ? 0 : -999_999_999
    return column(
      field,
      t(`channels.${field}`),
      { width: 64 },
      {
        channel: (channel) => (
          <InlineInteger
            label={t(`channels.${field}Of`, { name: channel.name })}
            value={channel[field]}
            min={min}
            onSave={(value) => actions.onNumber(channel, field, value)}
          />
        ),
        tag: (group) => (
          <InlineInteger
            label={t(`channels.${field}OfTag`, { tag: group.tag })}
            value={group[field]}
            min={min}
            onSave={(value) => actions.onTagNumber(group, field, value)}
          />
        ),
      },
    )
  }
  return [
    column(
      'response_time',
      t('channels.responseTime'),
      { width: 96 },
      {
        channel: (channel) => <LastTest channel={channel} />,
        tag: ({ response_time }) => <ResponseTime milliseconds={response_time} isShort />,
      },
    ),
    number('priority'),
    number('weight'),
  ]
}

function servingColumns(t: TFunction): ChannelColumn[] {
  return [
    column(
      'group',
      t('channels.groups'),
      { width: 100 },
      {
        channel: ({ group }) => <Names names={listOf(group)} areGroups />,
        tag: ({ group }) => <Names names={listOf(group)} areGroups />,
      },
    ),
    column(
      'models',
      t('channels.models'),
      { width: 140, isHiddenAtFirst: true },
      { channel: ({ models }) => <Names names={listOf(models)} /> },
    ),
  ]
}

function figureColumns(t: TFunction, types: ColumnFacts, actions: ChannelActions): ChannelColumn[] {
  const used = ({ used_quota }: { used_quota: number }) => <Quota value={BigInt(used_quota)} />
  return [
    column(
      'used_quota',
      t('channels.usedQuota'),
      { width: 98, align: 'end' },
      { channel: used, tag: used },
    ),
    column(
      'balance',
      t('words.balance'),
      { width: 112, align: 'end' },
      {
        channel: (channel) => (
          <Balance
            channel={channel}
            isTold={types.hasBalance(channel.type)}
            onRefresh={() => actions.onBalance(channel)}
          />
        ),
      },
    ),
    column(
      'tag',
      t('channels.tag'),
      { width: 110, isHiddenAtFirst: true },
      { channel: ({ tag }) => tag || '–' },
    ),
    column(
      'expired_time',
      t('words.expires'),
      { width: 130, isHiddenAtFirst: true },
      { channel: (channel) => <Expiry at={channel.expired_time} /> },
    ),
    column(
      'created_time',
      t('words.created'),
      { width: 164, isHiddenAtFirst: true },
      { channel: (channel) => <Time at={channel.created_time} style="stamp" /> },
    ),
  ]
}

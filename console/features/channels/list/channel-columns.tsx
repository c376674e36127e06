import type { TFunction } from 'i18next'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  actionsColumn,
  type Column,
  column,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { stamp } from '#console/ui/elements/time.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { parseNames } from '../form/channel-draft.ts'
import { ChannelMenu, TagMenu } from './channel-and-tag-menus.tsx'
import {
  ChannelStatus,
  Expiry,
  LastTest,
  NameTags,
  ResponseTime,
  TagStatus,
} from './channel-cells.tsx'
import type { ChannelRow } from './channel-rows.ts'
import { Balance, ChannelName, TagName } from './name-and-balance-cells.tsx'
import type { ChannelListActions } from './use-channel-list-actions.ts'

type ColumnContext = {
  readonly nameOf: (type: number) => string
  readonly hasBalance: (type: number) => boolean
  readonly unpricedOf: (channel: Channel) => readonly string[]
}

type ChannelColumn = Column<ChannelRow>
type TagLine = Extract<ChannelRow, { kind: 'tag' }>

/**
 * Returns a function that renders the cell of a column. A row is a channel or a tag. Without
 * `tagCell`, the cells of tags are empty.
 */
const cell =
  (
    channelCell: (channel: Channel, isChild: boolean) => ReactNode,
    tagCell?: (group: TagGroup, line: TagLine) => ReactNode,
  ) =>
  (line: ChannelRow) =>
    line.kind === 'channel' ? channelCell(line.channel, line.isChild) : tagCell?.(line.group, line)

/**
 * Returns the columns of the channel list. The id of each column is the server's name of the
 * column, because a request for a sorted list contains the id.
 */
export const channelColumns = (
  t: TFunction,
  context: ColumnContext,
  actions: ChannelListActions,
  isSelecting: boolean,
): ChannelColumn[] => [
  column(
    'id',
    t('shared.id'),
    56,
    cell(({ id }) => id),
    { align: 'end', isHiddenAtFirst: true },
  ),
  column(
    'name',
    t('shared.name'),
    isSelecting ? 118 : 156,
    nameCell(context, actions),
    TITLE_COLUMN,
  ),
  column(
    'type',
    t('shared.type'),
    92,
    cell(({ type }) => context.nameOf(type)),
  ),
  column('status', t('shared.status'), 130, statusCell, { onCard: 'aside' }),
  column('response_time', t('channels.responseTime'), 96, lastTestCell),
  ...(['priority', 'weight'] as const).map((field) =>
    column(field, t(`channelForm.${field}`), 64, numberCell(t, actions, field)),
  ),
  column('group', t('channels.groups'), 100, groupCell),
  column('models', t('shared.models'), 140, modelsCell, { isHiddenAtFirst: true }),
  column('used_quota', t('channels.usedQuota'), 98, cell(usedQuota, usedQuota), { align: 'end' }),
  column('balance', t('shared.balance'), 112, balanceCell(context, actions), { align: 'end' }),
  column(
    'tag',
    t('channels.tag'),
    110,
    cell(({ tag }) => tag || '–'),
    { isHiddenAtFirst: true },
  ),
  column('expired_time', t('shared.expires'), 130, expiryCell, { isHiddenAtFirst: true }),
  column('created_time', t('shared.created'), 164, createdCell, { isHiddenAtFirst: true }),
  actionsColumn(t, 96, menuCell(actions)),
]

const nameCell = (context: ColumnContext, actions: ChannelListActions) =>
  cell(
    (channel, isChild) => (
      <ChannelName
        channel={channel}
        isChild={isChild}
        unpriced={context.unpricedOf(channel).length}
        onUnpriced={() => actions.onUnpriced(channel)}
      />
    ),
    (group, { isOpen, isLoading }) => (
      <TagName
        group={group}
        isOpen={isOpen}
        isLoading={isLoading}
        onToggle={() => actions.onOpenTag(group)}
      />
    ),
  )

const statusCell = cell(
  (channel) => <ChannelStatus channel={channel} />,
  (group) => <TagStatus group={group} />,
)

const lastTestCell = cell(
  (channel) => <LastTest channel={channel} />,
  ({ response_time }) => <ResponseTime milliseconds={response_time} isShort />,
)

function numberCell(t: TFunction, actions: ChannelListActions, field: 'priority' | 'weight') {
  const min = field === 'weight' ? 0 : -999_999_999
  return cell(
    (channel) => (
      <InlineIntegerInput
        label={t(`channels.${field}Of`, { name: channel.name })}
        value={channel[field]}
        min={min}
        onSave={(value) => void actions.setNumber(channel, field, value)}
      />
    ),
    (group) => (
      <InlineIntegerInput
        label={t(`channels.${field}OfTag`, { tag: group.tag })}
        value={group[field]}
        min={min}
        onSave={(value) => void actions.setTagNumber(group, field, value)}
      />
    ),
  )
}

const groups = ({ group }: { group: string }) => <NameTags names={parseNames(group)} areGroups />
const groupCell = cell(groups, groups)

const modelsCell = cell(({ models }) => <NameTags names={parseNames(models)} />)

const usedQuota = ({ used_quota }: { used_quota: number }) => <Quota value={BigInt(used_quota)} />

const balanceCell = (context: ColumnContext, actions: ChannelListActions) =>
  cell((channel) => (
    <Balance
      channel={channel}
      isReported={context.hasBalance(channel.type)}
      onRefresh={() => actions.updateBalance(channel)}
    />
  ))

const expiryCell = cell((channel) => <Expiry at={channel.expired_time} />)

const createdCell = cell((channel) => stamp(channel.created_time))

const menuCell = (actions: ChannelListActions) =>
  cell(
    (channel) => <ChannelMenu channel={channel} actions={actions} />,
    (group) => <TagMenu group={group} actions={actions} />,
  )

/**
 * An input for an integer in a cell. `value` is null for a tag whose channels have different
 * values.
 */
function InlineIntegerInput(props: {
  label: string
  value: number | null
  min: number
  onSave: (value: number) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState<string | null>(null)
  const stored = props.value === null ? '' : String(props.value)
  const shown = text ?? stored
  const isWrong = shown !== stored && (!/^-?\d{1,9}$/.test(shown.trim()) || +shown < props.min)
  const save = () => {
    if (isWrong) showError(t(props.min < 0 ? 'channels.notWhole' : 'channels.notWholeFromZero'))
    else if (text !== null && text.trim() !== stored) props.onSave(Number(text))
    setText(null)
  }
  return (
    <input
      className="tg-input tg-inline-number"
      inputMode="numeric"
      aria-label={props.label}
      aria-invalid={isWrong ? true : undefined}
      placeholder="–"
      value={shown}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setText(null)
      }}
    />
  )
}

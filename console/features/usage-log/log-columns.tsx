import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { parseOtherField } from '#console/api/usage-log-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { ChannelCell } from './channel-link.tsx'
import {
  CostCell,
  type CountFormats,
  DetailsCell,
  DurationCell,
  FilterValue,
  FirstTokenCell,
  ModelCell,
  RatioCell,
  RetryCell,
  StatusCell,
  TokenCount,
} from './log-cells.tsx'
import { LOG_SORTS, type LogFilters } from './log-url-params.ts'
import { UserCell } from './user-cell.tsx'

export const COLUMN_LAYOUT_KEY = 'logs-table-columns'
const ADMIN_COLUMNS: ReadonlySet<string> = new Set(['channel', 'username', 'retry'])

/**
 * The titles of the columns, in the order of the table. The columns up to and including the status
 * fit into a window that is 1280 pixels wide.
 */
const TITLES = {
  time: 'shared.time',
  username: 'shared.user',
  token: 'shared.token',
  model: 'ui.model',
  channel: 'shared.channel',
  ratios: 'usageLog.column.ratios',
  prompt: 'usageLog.column.prompt',
  completion: 'usageLog.column.completion',
  timing: 'shared.duration',
  firstToken: 'shared.firstToken',
  cost: 'usageLog.column.cost',
  type: 'shared.status',
  group: 'ui.groupName',
  retry: 'usageLog.column.retry',
  details: 'usageLog.column.details',
} as const
type ColumnId = keyof typeof TITLES
const ORDER = Object.keys(TITLES) as ColumnId[]
const ADMIN_ORDER: readonly ColumnId[] = ORDER.filter((id) => id !== 'ratios').flatMap((id) =>
  id === 'type' ? [id, 'ratios'] : [id],
)
/**
 * The place of each column on the card that replaces a row in a narrow window. Columns that are
 * neither listed here nor define a place themselves are in the part of the card that the user can
 * expand.
 */
const ON_CARD: Partial<Record<ColumnId, 'brief' | 'bare' | 'hidden'>> = {
  time: 'bare',
  username: 'bare',
  token: 'bare',
  prompt: 'brief',
  completion: 'brief',
  timing: 'bare',
  firstToken: 'bare',
  group: 'hidden',
  details: 'hidden',
}
/**
 * The places on the card of a call without tokens, such as a video, which is billed by the call or
 * by the second. The card shows the price of such a call where other cards show tokens.
 */
const ON_CARD_WITHOUT_TOKENS: typeof ON_CARD = {
  ...ON_CARD,
  ...{ ratios: 'brief', prompt: 'hidden', completion: 'hidden', firstToken: 'hidden' },
}

const isPricedWithoutTokens = (row: LogEntry): boolean =>
  row.prompt_tokens === 0 &&
  row.completion_tokens === 0 &&
  parseOtherField(row).model_price !== undefined

type ColumnDefinition = Omit<Column<LogEntry>, 'title'> & { id: ColumnId }
type SetFilters = (patch: Partial<LogFilters>) => void

export function useLogColumns(isAdmin: boolean, setFilters: SetFilters): Column<LogEntry>[] {
  const { t } = useTranslation()
  const exact = useNumberFormat()
  const short = useNumberFormat({ notation: 'compact', maximumSignificantDigits: 3 })
  return useMemo(() => {
    const formats = { exact, short }
    const drafts = [...contextColumns(setFilters), ...metricColumns(formats, t)]
    return (isAdmin ? ADMIN_ORDER : ORDER)
      .flatMap((id) => drafts.filter((draft) => draft.id === id))
      .filter(({ id }) => isAdmin || !ADMIN_COLUMNS.has(id))
      .map((draft) => ({
        onCard: (row: LogEntry) =>
          (isPricedWithoutTokens(row) ? ON_CARD_WITHOUT_TOKENS : ON_CARD)[draft.id] ?? 'more',
        isSortable: draft.id in LOG_SORTS,
        ...draft,
        title: t(TITLES[draft.id]),
      }))
  }, [t, exact, short, isAdmin, setFilters])
}

function contextColumns(setFilters: SetFilters): ColumnDefinition[] {
  const text = (id: 'token' | 'group', read: (row: LogEntry) => string) => ({
    id,
    cell: (row: LogEntry) => (
      <FilterValue value={read(row)} onFilter={() => setFilters({ [id]: read(row) })}>
        {id === 'group' && <GroupTag name={read(row)} />}
      </FilterValue>
    ),
  })
  return [
    {
      id: 'time',
      width: 116,
      isPinned: true,
      cell: (row) => <Time at={row.created_at} style="short-stamp" />,
      agoCell: (row) => <Time at={row.created_at} style="short" />,
    },
    {
      id: 'channel',
      width: 98,
      cell: (row) => (
        <ChannelCell row={row} onFilter={() => setFilters({ channel: row.channel })} />
      ),
    },
    {
      id: 'username',
      width: 68,
      cell: (row) => <UserCell row={row} onFilter={() => setFilters({ username: row.username })} />,
    },
    { ...text('token', (row) => row.token_name), width: 88 },
    { ...text('group', (row) => row.group), width: 88 },
    {
      id: 'model',
      cell: (row) => <ModelCell row={row} onFilter={(model) => setFilters({ model })} />,
      width: 122,
      isGrowing: true,
      onCard: 'title',
    },
  ]
}

function metricColumns(formats: CountFormats, t: TFunction): ColumnDefinition[] {
  const count = (value: number, row: LogEntry) =>
    row.request_id === '' ? (
      <span className="tg-muted">–</span>
    ) : (
      <TokenCount value={value} formats={formats} />
    )
  return [
    {
      id: 'ratios',
      heading: t('usageLog.ratios'),
      width: 92,
      cell: (row) => <RatioCell row={row} />,
      cardTitle: (row) => {
        const { model_price: price, price: exact } = parseOtherField(row)
        if (price === undefined) return t('usageLog.column.ratios')
        return t(`usageLog.column.${exact?.per === undefined ? 'callPrice' : 'secondPrice'}`)
      },
    },
    { id: 'prompt', width: 62, align: 'end', cell: (row) => count(row.prompt_tokens, row) },
    { id: 'completion', width: 60, align: 'end', cell: (row) => count(row.completion_tokens, row) },
    {
      id: 'cost',
      width: 92,
      align: 'end',
      onCard: 'aside',
      cell: (row) => <CostCell row={row} />,
    },
    { id: 'timing', width: 74, align: 'end', cell: (row) => <DurationCell row={row} /> },
    { id: 'firstToken', width: 76, align: 'end', cell: (row) => <FirstTokenCell row={row} /> },
    { id: 'type', width: 106, onCard: 'aside', cell: (row) => <StatusCell row={row} /> },
    { id: 'retry', width: 92, cell: (row) => <RetryCell row={row} /> },
    { id: 'details', width: 210, isGrowing: true, cell: (row) => <DetailsCell row={row} /> },
  ]
}

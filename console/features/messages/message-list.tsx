import { useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { messagesKey, messagesQuery } from '#console/api/message-queries.ts'
import type { ListPage } from '#console/api/request.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import {
  actionsColumn,
  type Column,
  column,
  NUMBER_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useHistoryActions } from '#console/ui/elements/history-link.tsx'
import { type MenuItem, RowMenu } from '#console/ui/elements/menu.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import {
  confirmDelete,
  deleteAction,
  editAction,
} from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { textParam, type UrlParam } from '#console/ui/state/url-state.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { AdminMessage } from '#read-api/contract/messages.ts'

function useDeleteMessage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async ({ id }: AdminMessage): Promise<void> => {
    if (!(await confirmDelete(t('messages.deleteTitle'), t('messages.deleteBody')))) return
    try {
      await call('DELETE /api/admin/messages/:id', { params: { id } })
      const lists = { queryKey: [...messagesKey, 'list'] }
      client.setQueriesData<ListPage<AdminMessage>>(lists, (page) => without(page, id))
      showSuccess(t('messages.deleted'))
    } catch (error) {
      showError(error)
    }
    void client.invalidateQueries({ queryKey: messagesKey })
  }
}

const without = (
  page: ListPage<AdminMessage> | undefined,
  id: number,
): ListPage<AdminMessage> | undefined =>
  page?.items.some((row) => row.id === id) === true
    ? { ...page, items: page.items.filter((row) => row.id !== id), total: page.total - 1 }
    : page

const DAY = /^\d{4}-\d{2}-\d{2}$/

const isValidDate = (text: string): boolean => DAY.test(text) && !Number.isNaN(Date.parse(text))

const readDay = (text: string): string | null => (isValidDate(text) ? text : null)

function isoRange(from: string, until: string): { start: string; end: string } {
  if (!isValidDate(from) || !isValidDate(until)) return { start: '', end: '' }
  return {
    start: new Date(`${from}T00:00:00`).toISOString(),
    end: new Date(`${until}T23:59:59.999`).toISOString(),
  }
}

const dayParam: UrlParam<string> = { fallback: '', read: readDay, write: (day) => day }

const SORTS = {
  id: 'id',
  title: 'title',
  format: 'format',
  recipients: 'total_recipients',
  readers: 'read_count',
  created: 'created_at',
}

const URL_PARAMS = listUrlParams(
  { keyword: textParam(), from: dayParam, until: dayParam },
  { sorts: SORTS, isKeyset: true },
)

const useMessageList = () =>
  useListPage(
    URL_PARAMS,
    ({ from, until, ...query }) => messagesQuery({ ...query, ...isoRange(from, until) }),
    'message-page-size',
  )

export function MessageList(props: {
  onEdit: (message: AdminMessage) => void
  onCreate: () => void
}) {
  const { t } = useTranslation()
  const locale = useLocale()
  const { onEdit } = props
  const view = useMessageList()
  const actions = useStableCallbacks({ onEdit, onDelete: useDeleteMessage() })
  const columns = useMemo(() => messageColumns(t, locale, actions), [t, locale, actions])
  return (
    <ListPanel
      label={t('shared.messages')}
      view={view}
      layoutKey="messages-table-columns"
      columns={columns}
      rowKey={rowId}
      filters={<Filters view={view} />}
      isClearable
      create={{ text: t('messages.create'), perform: props.onCreate }}
      none={{ icon: 'send', title: t('shared.noMessages'), body: t('messages.emptyBody') }}
      notFound={{ title: t('messages.notFoundTitle'), body: t('messages.notFoundBody') }}
      isLastColumnSticky
      onOpen={onEdit}
      openText={t('messages.open')}
    />
  )
}

function Filters({ view }: { view: ReturnType<typeof useMessageList> }) {
  const { t } = useTranslation()
  const { filter, setFilter } = view
  return (
    <>
      <KeywordFilter label={t('messages.search')} view={view} />
      <span className="tg-message-days">
        <DayInput
          label={t('messages.from')}
          value={filter.from}
          max={filter.until}
          onChange={(from) => setFilter({ from })}
        />
        <span aria-hidden="true">–</span>
        <DayInput
          label={t('messages.until')}
          value={filter.until}
          min={filter.from}
          onChange={(until) => setFilter({ until })}
        />
      </span>
      <Button onClick={view.refresh}>{t('shared.searchAction')}</Button>
    </>
  )
}

function DayInput(props: {
  label: string
  value: string
  min?: string
  max?: string
  onChange: (day: string) => void
}) {
  return (
    <input
      type="date"
      className="tg-input"
      aria-label={props.label}
      title={props.label}
      value={props.value}
      min={props.min}
      max={props.max}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

type MessageActions = {
  readonly onEdit: (message: AdminMessage) => void
  readonly onDelete: (message: AdminMessage) => Promise<void>
}

function messageColumns(
  t: TFunction,
  locale: string,
  actions: MessageActions,
): Column<AdminMessage>[] {
  const number = new Intl.NumberFormat(locale)
  const count = (name: keyof AdminMessage['stats']) => (message: AdminMessage) =>
    number.format(message.stats[name])
  return [
    column('id', t('shared.id'), 64, ({ id }) => `#${id}`, { onCard: 'bare' }),
    column('title', t('messages.messageTitle'), 240, titleCell, TITLE_COLUMN),
    column('format', t('shared.format'), 110, ({ format }) => <FormatTag format={format} />, {
      onCard: 'bare',
    }),
    column('recipients', t('messages.recipients'), 104, count('total_recipients'), NUMBER_COLUMN),
    column('readers', t('messages.readers'), 92, count('read_count'), NUMBER_COLUMN),
    column('created', t('shared.created'), 172, ({ created_at }) => stamp(created_at)),
    {
      ...actionsColumn(t, 76, (message) => (
        <MessageRowActions message={message} actions={actions} />
      )),
      onCard: 'aside',
    },
  ]
}

const titleCell = ({ title }: AdminMessage) => <span className="tg-cell-strong">{title}</span>

function FormatTag({ format }: Pick<AdminMessage, 'format'>) {
  const { t } = useTranslation()
  return (
    <StatusTag tone={format === 'html' ? 'warn' : 'info'} isPlain>
      {t(`messages.formats.${format}`)}
    </StatusTag>
  )
}

function MessageRowActions(props: { message: AdminMessage; actions: MessageActions }) {
  const { message, actions } = props
  const { t } = useTranslation()
  const history = useHistoryActions(`message:${message.id}`)
  const items: MenuItem[] = [
    editAction(() => actions.onEdit(message)),
    ...history,
    'divider',
    deleteAction(() => void actions.onDelete(message)),
  ]
  return <RowMenu items={items} label={t('messages.more', { title: message.title })} />
}

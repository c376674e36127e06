import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { messagesKey } from '#console/api/messages.ts'
import { type ListPage, request } from '#console/api/request.ts'
import { useLocale } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/button.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import type { AdminMessage } from '#read-api/contract/messages.ts'
import { messageColumns } from './message-columns.tsx'
import type { MessageListView } from './use-message-list.ts'

/** Asks first; then the row goes at once, and the total is one less. */
function useDeleteMessage(): (message: AdminMessage) => Promise<void> {
  const { t } = useTranslation()
  const client = useQueryClient()
  return useCallback(
    async ({ id }) => {
      const words = { title: t('messages.deleteTitle'), body: t('messages.deleteBody') }
      if (!(await confirm({ ...words, confirmText: t('messages.delete'), tone: 'danger' }))) return
      try {
        await deleteMessage(id)
        const lists = { queryKey: [...messagesKey, 'list'] }
        client.setQueriesData<ListPage<AdminMessage>>(lists, (page) => without(page, id))
        showSuccess(t('messages.deleted'))
      } catch (error) {
        showError(error)
      }
      void client.invalidateQueries({ queryKey: messagesKey })
    },
    [client, t],
  )
}

const without = (
  page: ListPage<AdminMessage> | undefined,
  id: number,
): ListPage<AdminMessage> | undefined =>
  page?.items.some((row) => row.id === id) === true
    ? { ...page, items: page.items.filter((row) => row.id !== id), total: page.total - 1 }
    : page

/** For good: out of every inbox too. */
async function deleteMessage(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/admin/messages/${id}` })
}

/** What was sent, filtered, page by page. */
export function MessageList(props: {
  view: MessageListView
  onEdit: (message: AdminMessage) => void
  onCreate: () => void
}): ReactElement {
  const { t } = useTranslation()
  const locale = useLocale()
  const { view, onEdit } = props
  const { list, paging, rows } = view
  const onDelete = useDeleteMessage()
  const columns = useMemo(
    () => messageColumns(t, locale, { onEdit, onDelete }),
    [t, locale, onEdit, onDelete],
  )
  const layout = useColumnLayout('messages-table-columns', columns)
  const refresh = () => void list.refetch()
  useListCommands(t('messages.create'), props.onCreate, t('messages.refresh'), refresh)
  return (
    <ListPanel
      label={t('messages.grid')}
      list={list}
      rows={rows}
      rowKey={rowKey}
      layout={layout}
      paging={paging}
      filtersLabel={t('messages.filters')}
      filters={<Filters view={view} onQuery={refresh} />}
      refreshText={t('messages.refresh')}
      onRefresh={refresh}
      isEnded
      onOpen={onEdit}
      openText={t('messages.open')}
      empty={<Nothing view={view} onCreate={props.onCreate} />}
    />
  )
}

const rowKey = ({ id }: AdminMessage): string => String(id)

function Filters({ view, onQuery }: { view: MessageListView; onQuery: () => void }): ReactElement {
  const { t } = useTranslation()
  const { filter, setFilter } = view
  return (
    <>
      <SearchInput
        icon="search"
        label={t('messages.search')}
        value={filter.keyword}
        onChange={(keyword) => setFilter({ keyword }, { isTyping: true })}
      />
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
      <Button onClick={onQuery}>{t('messages.query')}</Button>
      {view.isFiltered && (
        <Button tone="quiet" icon="close" onClick={view.clear}>
          {t('messages.clear')}
        </Button>
      )}
    </>
  )
}

function DayInput(props: {
  label: string
  value: string
  min?: string
  max?: string
  onChange: (day: string) => void
}): ReactElement {
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

function Nothing(props: { view: MessageListView; onCreate: () => void }): ReactElement {
  const { t } = useTranslation()
  if (props.view.isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('messages.notFoundTitle')}
        body={t('messages.notFoundBody')}
        action={<Button onClick={props.view.clear}>{t('messages.clear')}</Button>}
      />
    )
  }
  return (
    <EmptyState
      icon="send"
      title={t('messages.emptyTitle')}
      body={t('messages.emptyBody')}
      action={
        <Button tone="primary" icon="add" onClick={props.onCreate}>
          {t('messages.create')}
        </Button>
      }
    />
  )
}

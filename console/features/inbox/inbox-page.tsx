import './inbox.css'
import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { inboxQuery } from '#console/api/message-queries.ts'
import type { ListPage } from '#console/api/request.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { Pagination } from '#console/ui/lists/pagination.tsx'
import { SortSelect } from '#console/ui/lists/select-filter.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import type { InboxMessage } from '#read-api/contract/messages.ts'
import { previewOf } from './message-preview.ts'

const URL_PARAMS = listUrlParams(
  {},
  { sorts: { created: 'created_at', title: 'title', unread: 'is_read' }, isKeyset: true },
)

export function InboxPage() {
  const { t } = useTranslation()
  const view = useListPage(URL_PARAMS, inboxQuery, 'message-page-size')
  const { list, total, paging } = view
  const orders = [
    { sort: { column: 'created', isDescending: false }, label: t('shared.oldestFirst') },
    { sort: { column: 'unread', isDescending: false }, label: t('inbox.unreadFirst') },
    { sort: { column: 'title', isDescending: false }, label: t('inbox.byTitle') },
  ]
  return (
    <Page title={t('shell.inbox')} lead={t('inbox.lead')}>
      <Panel isFlush>
        {total > 1 && (
          <Toolbar label={t('shared.order')}>
            <SortSelect orders={orders} sort={view.sort} onSort={view.setSort} />
          </Toolbar>
        )}
        <Messages list={list} onFirst={() => paging.onPage(0)} />
        {total > paging.pageSize && <Pagination {...paging} />}
      </Panel>
    </Page>
  )
}

function Messages(props: {
  list: UseQueryResult<ListPage<InboxMessage>, Error>
  onFirst: () => void
}) {
  const { t } = useTranslation()
  const { data, error, isPlaceholderData, refetch } = props.list
  if (data === undefined) {
    if (error === null) return <Waiting />
    const retry = () => void refetch()
    return <ErrorState error={error} title={t('inbox.loadFailed')} onRetry={retry} />
  }
  if (data.items.length === 0) {
    if (data.total === 0) {
      return <EmptyState icon="bell" title={t('shared.noMessages')} body={t('inbox.emptyBody')} />
    }
    const back = <Button onClick={props.onFirst}>{t('inbox.firstPage')}</Button>
    return <EmptyState icon="bell" title={t('inbox.emptyPage')} action={back} />
  }
  return (
    <ul
      className={isPlaceholderData ? 'tg-inbox-stale' : undefined}
      aria-label={t('shared.messages')}
      aria-busy={isPlaceholderData}
    >
      {data.items.map((message) => (
        <Row key={message.id} message={message} />
      ))}
    </ul>
  )
}

function Row({ message }: { message: InboxMessage }) {
  const { t } = useTranslation()
  return (
    <li className={message.is_read ? 'tg-inbox-row' : 'tg-inbox-row tg-inbox-unread'}>
      <Link to={`/app/inbox/${message.id}`}>
        <span className="tg-inbox-head">
          <span className="tg-inbox-mark" aria-hidden="true" />
          <span className="tg-inbox-title">
            {!message.is_read && <span className="tg-visually-hidden">{t('inbox.unread')}: </span>}
            {message.title}
          </span>
          <Time at={message.created_at} />
        </span>
        <span className="tg-inbox-preview">{previewOf(message)}</span>
      </Link>
    </li>
  )
}

function Waiting() {
  return (
    <div className="tg-inbox-waiting">
      {[70, 55, 80, 60].map((width) => (
        <Skeleton key={width} width={width} height={40} />
      ))}
    </div>
  )
}

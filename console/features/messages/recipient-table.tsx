import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { messagesKey } from '#console/api/message-queries.ts'
import type { ListSort } from '#console/api/request.ts'
import { type Sort, sortParams } from '#console/ui/data-grid/column-and-layout.ts'
import { ariaSortOf, SortButton } from '#console/ui/data-grid/grid-header.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { Recipient } from '#read-api/contract/messages.ts'

const PAGE_SIZE = 10

export function RecipientTable(props: { messageId: number; isOpen: boolean }) {
  const { t } = useTranslation()
  const [page, setPage] = useState(0)
  const [sort, setSort] = useState<Sort | null>(null)
  const order = sort === null ? {} : sortParams(sort)
  const pageQuery = recipientsQuery(props.messageId, { p: page, page_size: PAGE_SIZE, ...order })
  const query = useQuery({ ...pageQuery, enabled: props.isOpen })
  const total = query.data?.total ?? 0
  return (
    <section className="tg-message-recipients" aria-label={t('messages.recipientTable')}>
      <h3>{t('messages.recipientTable')}</h3>
      <QueryView query={query} height={200}>
        {({ items }) => (
          <Table
            recipients={items}
            isStale={query.isPlaceholderData}
            sort={sort}
            onSort={(next) => {
              setSort(next)
              setPage(0)
            }}
          />
        )}
      </QueryView>
      <CompactPagination page={page} pageSize={PAGE_SIZE} total={total} onPage={setPage} />
    </section>
  )
}

function Table(props: {
  recipients: readonly Recipient[]
  isStale: boolean
  sort: Sort | null
  onSort: (sort: Sort) => void
}) {
  const { t } = useTranslation()
  const header = (column: string, title: string, className?: string) => {
    const sort = props.sort?.column === column ? props.sort : null
    return (
      <th scope="col" className={className} aria-sort={ariaSortOf(sort)}>
        <SortButton column={column} title={title} sort={sort} onSort={props.onSort} />
      </th>
    )
  }
  return (
    <table className="tg-message-table" aria-busy={props.isStale}>
      <thead>
        <tr>
          {header('user_id', t('shared.userId'))}
          {header('username', t('auth.name'))}
          {header('display_name', t('shared.displayName'), 'tg-message-shown')}
          {header('read_at', t('messages.readAt'))}
        </tr>
      </thead>
      <tbody>
        {props.recipients.map((row) => (
          <tr key={row.user_id}>
            <td>#{row.user_id}</td>
            <td>
              {row.username === '' ? (
                <span className="tg-quiet">{t('users.state.erased')}</span>
              ) : (
                row.username
              )}
            </td>
            <td className="tg-message-shown">{row.display_name}</td>
            <td>
              {row.read_at === null ? (
                <StatusTag tone="neutral">{t('messages.notRead')}</StatusTag>
              ) : (
                <Time at={row.read_at} style="stamp" />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Reads one page of the recipients of a message. `p` is the page number, starting at 0. */
function recipientsQuery(id: number, query: { p: number; page_size: number } & ListSort) {
  const input = { params: { id }, query }
  const key = [...messagesKey, 'recipients', id, query]
  return {
    ...apiQuery('GET /api/admin/messages/:id/recipients', input, key),
    placeholderData: keepPreviousData,
    staleTime: 0,
  }
}

/**
 * The page buttons of a list of users inside a form. Unlike the page buttons of a main list, they
 * have no keyboard shortcuts and no choice of the page size.
 */
export function CompactPagination(props: {
  page: number
  pageSize: number
  total: number
  onPage: (page: number) => void
}) {
  const { t } = useTranslation()
  const { page } = props
  const pages = Math.ceil(props.total / props.pageSize)
  if (pages <= 1) return null
  return (
    <nav className="tg-small-pages" aria-label={t('ui.pageOf', { page: page + 1, pages })}>
      <span>{t('ui.pageOf', { page: page + 1, pages })}</span>
      <Button
        size="small"
        icon="chevronLeft"
        label={t('messages.previousUsers')}
        isDisabled={page <= 0}
        onClick={() => props.onPage(page - 1)}
      />
      <Button
        size="small"
        icon="chevronRight"
        label={t('messages.nextUsers')}
        isDisabled={page + 1 >= pages}
        onClick={() => props.onPage(page + 1)}
      />
    </nav>
  )
}

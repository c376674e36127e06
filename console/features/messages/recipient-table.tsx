import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { messagesKey } from '#console/api/messages.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { Recipient } from '#read-api/contract/messages.ts'
import { UserPagination } from './user-pagination.tsx'

const PAGE_SIZE = 10

export function RecipientTable(props: { messageId: number; isOpen: boolean }) {
  const { t } = useTranslation()
  const [page, setPage] = useState(0)
  const pageQuery = recipientsQuery(props.messageId, page, PAGE_SIZE)
  const query = useQuery({ ...pageQuery, enabled: props.isOpen })
  const total = query.data?.total ?? 0
  return (
    <section className="tg-message-recipients" aria-label={t('messages.recipientTable')}>
      <h3>{t('messages.recipientTable')}</h3>
      <QueryView query={query} height={200}>
        {({ items }) => <Table recipients={items} isStale={query.isPlaceholderData} />}
      </QueryView>
      <UserPagination page={page} pageSize={PAGE_SIZE} total={total} onPage={setPage} />
    </section>
  )
}

function Table(props: { recipients: readonly Recipient[]; isStale: boolean }) {
  const { t } = useTranslation()
  return (
    <table className="tg-message-table" aria-busy={props.isStale}>
      <thead>
        <tr>
          <th scope="col">{t('shared.userId')}</th>
          <th scope="col">{t('auth.name')}</th>
          <th scope="col" className="tg-message-shown">
            {t('shared.displayName')}
          </th>
          <th scope="col">{t('messages.readAt')}</th>
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

/** `page` is zero-based. */
function recipientsQuery(id: number, page: number, pageSize: number) {
  const input = { params: { id }, query: { p: page, page_size: pageSize } }
  const key = [...messagesKey, 'recipients', id, page, pageSize]
  return {
    ...apiQuery('GET /api/admin/messages/:id/recipients', input, key),
    placeholderData: keepPreviousData,
    staleTime: 0,
  }
}

import { apiQuery, call } from '#console/api/client.ts'
import './inbox.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate, useParams } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { inboxKey, unreadKey } from '#console/api/message-queries.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import type { InboxMessage } from '#read-api/contract/messages.ts'

export function MessagePage() {
  const { t } = useTranslation()
  const { id: text = '' } = useParams()
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
  const { data, error, refetch } = useQuery({ ...ownMessageQuery(id), enabled: id > 0 })
  const isMissing = id === 0 || (error instanceof ApiError && error.status === 404)
  useLeaveIfMissing(isMissing)
  useMarkRead(isMissing ? undefined : data)
  return (
    <Page
      title={data?.title ?? t('shared.message')}
      lead={data === undefined ? undefined : <Time at={data.created_at} style="stamp" />}
      actions={
        <ButtonLink to="/app/inbox" icon="chevronLeft">
          {t('inbox.back')}
        </ButtonLink>
      }
    >
      <Panel>
        {data !== undefined ? (
          <Content message={data} />
        ) : error !== null && !isMissing ? (
          <ErrorState error={error} title={t('inbox.loadFailed')} onRetry={() => void refetch()} />
        ) : (
          <Skeleton height={120} />
        )}
      </Panel>
    </Page>
  )
}

function useLeaveIfMissing(isMissing: boolean): void {
  const { t } = useTranslation()
  const navigate = useNavigate()
  useEffect(() => {
    if (!isMissing) return
    showError(new Error(t('shared.messageNotFound')), { staysOnNavigation: true })
    void navigate('/app/inbox', { replace: true })
  }, [isMissing, navigate, t])
}

function Content({ message }: { message: InboxMessage }) {
  const { t } = useTranslation()
  const { content, format } = message
  if (format === 'plain') return <p className="tg-inbox-plain">{content}</p>
  return <RichText text={content} title={t('inbox.content')} isHtml={format === 'html'} />
}

/**
 * Reads a message. The server responds with 404 if the message was deleted or is not addressed to
 * this user.
 */
const ownMessageQuery = (id: number) =>
  apiQuery('GET /api/user/messages/:id', { params: { id } }, [...inboxKey, 'one', id])

/**
 * Marks a message as read. The displayed number of unread messages is reduced before the server
 * responds.
 */
function useMarkRead(message: InboxMessage | undefined): void {
  const client = useQueryClient()
  const marked = useRef(0)
  const id = message === undefined || message.is_read ? 0 : message.id
  useEffect(() => {
    if (id === 0 || marked.current === id) return
    marked.current = id
    client.setQueryData<number>(unreadKey, (count) => Math.max(0, (count ?? 1) - 1))
    void call('PUT /api/user/messages/:id/read', { params: { id: id } })
      .catch((error: unknown) => console.warn('the message could not be marked as read', error))
      .finally(() => {
        void client.invalidateQueries({ queryKey: inboxKey })
        void client.invalidateQueries({ queryKey: unreadKey })
      })
  }, [id, client])
}

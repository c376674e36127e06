import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { endOtherSessions } from '#console/api/security/end-other-sessions.ts'
import { endSession } from '#console/api/security/end-session.ts'
import { ownSessionsQuery } from '#console/api/security/own-sessions.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { Time } from '#console/ui/time.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { OwnSession } from '#read-api/contract/security.ts'
import { deviceName } from './device-name.ts'
import './security.css'

/** Where one is logged in, and the end of any of it. */
export function SessionsPanel(): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const sessions = useQuery(ownSessionsQuery)
  const refresh = () => client.invalidateQueries({ queryKey: ownSessionsQuery.queryKey })
  const ending = useSubmit(async () => {
    const isSure = await confirm({
      title: t('security.endOthers'),
      body: t('security.endOthersBody'),
      confirmText: t('security.endOthers'),
      tone: 'danger',
    })
    if (!isSure) return
    await endOtherSessions()
    showSuccess(t('security.othersEnded'))
    await refresh()
  })
  const others = sessions.data?.filter((session) => !session.is_current) ?? []
  return (
    <Panel
      title={t('security.sessions')}
      lead={t('security.sessionsLead')}
      actions={
        others.length > 0 && (
          <Button size="small" isBusy={ending.isBusy} onClick={() => void ending.submit()}>
            {t('security.endOthers')}
          </Button>
        )
      }
    >
      {sessions.error !== null && sessions.data === undefined && (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.isPending && <Skeleton height={88} />}
      <ul className="tg-me-rows" aria-label={t('security.sessions')}>
        {sessions.data?.map((session) => (
          <SessionRow key={session.id} session={session} onEnded={refresh} />
        ))}
      </ul>
    </Panel>
  )
}

function SessionRow(props: { session: OwnSession; onEnded: () => Promise<void> }): ReactElement {
  const { t } = useTranslation()
  const { id, ip, user_agent, seen_at, started_at, is_current } = props.session
  const device = deviceName(user_agent) || t('security.unknownDevice')
  const { isBusy, submit } = useSubmit(async () => {
    await endSession(id)
    showSuccess(t('security.sessionEnded'))
    await props.onEnded()
  })
  return (
    <li>
      <div>
        <p className="tg-me-row-title tg-me-device" title={user_agent}>
          {device}
          {is_current && <StatusTag tone="good">{t('security.thisSession')}</StatusTag>}
        </p>
        <p className="tg-hint tg-me-facts">
          {ip !== '' && <span className="tg-mono">{ip}</span>}
          <span>
            {t('security.lastSeen')} <Time at={seen_at} />
          </span>
          <span>
            {t('security.startedAt')} <Time at={started_at} style="stamp" />
          </span>
        </p>
      </div>
      {!is_current && (
        <Button
          size="small"
          icon="logOut"
          isBusy={isBusy}
          label={t('security.endOf', { device })}
          onClick={() => void submit()}
        >
          {t('security.end')}
        </Button>
      )}
    </li>
  )
}

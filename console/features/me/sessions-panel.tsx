import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { MiddleEllipsis } from '#console/ui/elements/middle-ellipsis.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import type { OwnSession } from '#read-api/contract/credentials.ts'
import { deviceName } from './device-name-from-user-agent.ts'
import './credentials.css'

export function SessionsPanel() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const sessions = useQuery(ownSessionsQuery)
  const refresh = () => client.invalidateQueries({ queryKey: ownSessionsQuery.queryKey })
  const ending = useSubmit(async () => {
    const isConfirmed = await confirm({
      title: t('credentials.endOthers'),
      body: t('credentials.endOthersBody'),
      confirmText: t('credentials.endOthers'),
      tone: 'danger',
    })
    if (!isConfirmed) return
    await call('DELETE /api/user/sessions')
    showSuccess(t('credentials.othersEnded'))
    await refresh()
  })
  const others = sessions.data?.filter((session) => !session.is_current) ?? []
  return (
    <Panel
      title={t('credentials.sessions')}
      lead={t('credentials.sessionsLead')}
      actions={
        others.length > 0 && (
          <Button size="small" isBusy={ending.isBusy} onClick={() => void ending.submit()}>
            {t('credentials.endOthers')}
          </Button>
        )
      }
    >
      <QueryView query={sessions} height={174}>
        {(data) => <SessionList sessions={data} onEnded={refresh} />}
      </QueryView>
    </Panel>
  )
}

const ownSessionsQuery = apiQuery('GET /api/user/sessions')

type ListProps = { sessions: readonly OwnSession[]; onEnded: () => Promise<unknown> }
type SessionProps = { session: OwnSession; onEnded: () => Promise<unknown> }

function SessionList({ sessions, onEnded }: ListProps) {
  const { t } = useTranslation()
  if (useIsNarrow()) {
    return (
      <ul className="tg-session-cards" aria-label={t('credentials.sessions')}>
        {sessions.map((session) => (
          <SessionCard key={session.id} session={session} onEnded={onEnded} />
        ))}
      </ul>
    )
  }
  return (
    <table className="tg-session-table" aria-label={t('credentials.sessions')}>
      <thead>
        <tr>
          <th scope="col">{t('credentials.device')}</th>
          <th scope="col">{t('credentials.address')}</th>
          <th scope="col">{t('credentials.lastSeen')}</th>
          <th scope="col">{t('credentials.startedAt')}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} onEnded={onEnded} />
        ))}
      </tbody>
    </table>
  )
}

function SessionRow({ session, onEnded }: SessionProps) {
  return (
    <tr>
      <th scope="row">
        <Device session={session} />
      </th>
      <td className="tg-mono">{session.ip === '' ? '–' : <MiddleEllipsis text={session.ip} />}</td>
      <td>
        <Time at={session.seen_at} style="short" />
      </td>
      <td>
        <Time at={session.started_at} style="short" />
      </td>
      <td>
        <EndSessionButton session={session} onEnded={onEnded} />
      </td>
    </tr>
  )
}

function SessionCard({ session, onEnded }: SessionProps) {
  const { t } = useTranslation()
  return (
    <li>
      <header>
        <Device session={session} />
        <EndSessionButton session={session} onEnded={onEnded} />
      </header>
      <dl>
        {session.ip !== '' && (
          <LabelledValue name={t('credentials.address')} className="tg-mono">
            {session.ip}
          </LabelledValue>
        )}
        <LabelledValue name={t('credentials.lastSeen')}>
          <Time at={session.seen_at} />
        </LabelledValue>
        <LabelledValue name={t('credentials.startedAt')}>
          <Time at={session.started_at} />
        </LabelledValue>
      </dl>
    </li>
  )
}

function useDevice({ user_agent }: OwnSession): string {
  const { t } = useTranslation()
  return deviceName(user_agent) || t('credentials.unknownDevice')
}

function Device({ session }: { session: OwnSession }) {
  const { t } = useTranslation()
  const device = useDevice(session)
  return (
    <span className="tg-me-device" title={session.user_agent}>
      {device}
      {session.is_current && <StatusTag tone="good">{t('credentials.thisSession')}</StatusTag>}
    </span>
  )
}

function EndSessionButton({ session, onEnded }: SessionProps) {
  const { t } = useTranslation()
  const device = useDevice(session)
  const { isBusy, submit } = useSubmit(async () => {
    await call('DELETE /api/user/sessions/:id', { params: { id: session.id } })
    showSuccess(t('credentials.sessionEnded'))
    await onEnded()
  })
  if (session.is_current) return null
  return (
    <Button
      size="small"
      icon="logOut"
      isBusy={isBusy}
      label={t('credentials.endSession', { device })}
      onClick={() => void submit()}
    >
      {t('credentials.end')}
    </Button>
  )
}

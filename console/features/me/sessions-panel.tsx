import { apiQuery, call } from '#console/api/client.ts'
import './credentials.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { SessionList } from './session-list.tsx'

export function SessionsPanel() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const sessions = useQuery(ownSessionsQuery)
  const refresh = () => client.invalidateQueries({ queryKey: ownSessionsQuery.queryKey })
  const ending = useSubmit(async () => {
    const isSure = await confirm({
      title: t('credentials.endOthers'),
      body: t('credentials.endOthersBody'),
      confirmText: t('credentials.endOthers'),
      tone: 'danger',
    })
    if (!isSure) return
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

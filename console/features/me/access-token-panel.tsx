import { call } from '#console/api/client.ts'
import './credentials.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { credentialsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton, copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { MePanelProps } from './me-panel-types.ts'

/**
 * Creates, replaces or revokes the user's access token, with which scripts call the management API.
 * The server sends the token only when the token is created.
 */
export function AccessTokenPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { data: credentials } = useQuery(credentialsQuery)
  const [shown, setShown] = useState('')
  const accessToken = credentials?.access_token ?? null
  const refresh = () => client.invalidateQueries({ queryKey: credentialsQuery.queryKey })
  const confirmAction = async (action: 'reset' | 'revoke') => {
    const [title, body] = [t(`credentials.${action}Title`), t(`credentials.${action}Body`)]
    const confirmText = t(`credentials.${action}Token`)
    return accessToken === null || confirm({ title, body, confirmText, tone: 'danger' })
  }
  const resetting = useSubmit(async () => {
    if (!(await confirmAction('reset'))) return
    const token = await retryWithIdentityProof(() => call('GET /api/user/token'))
    setShown(token)
    if (await copyText(token)) showSuccess(t('credentials.tokenCopied'))
    await refresh()
  })
  const revoking = useSubmit(async () => {
    if (!(await confirmAction('revoke'))) return
    await call('DELETE /api/user/token')
    setShown('')
    showSuccess(t('credentials.tokenRevoked'))
    await refresh()
  })
  return (
    <Panel title={t('credentials.token')} lead={t('credentials.tokenLead')}>
      {shown !== '' && <NewToken token={shown} userId={user?.id} />}
      <div className="tg-ends">
        <p className="tg-hint">
          {accessToken === null ? (
            t('credentials.noToken')
          ) : (
            <>
              {t('credentials.tokenUntil')} <Time at={accessToken.expires_at} mayBeInFuture />
            </>
          )}
        </p>
        <div className="tg-actions">
          {accessToken !== null && (
            <Button size="small" isBusy={revoking.isBusy} onClick={() => void revoking.submit()}>
              {t('credentials.revokeToken')}
            </Button>
          )}
          <Button
            size="small"
            icon="refresh"
            isBusy={resetting.isBusy}
            onClick={() => void resetting.submit()}
          >
            {accessToken === null ? t('credentials.createToken') : t('credentials.resetToken')}
          </Button>
        </div>
      </div>
    </Panel>
  )
}

function NewToken(props: { token: string; userId: number | undefined }) {
  const { t } = useTranslation()
  return (
    <div className="tg-me-token">
      <div className="tg-me-link">
        <TextInput
          aria-label={t('credentials.token')}
          value={props.token}
          readOnly
          isMono
          onFocus={(event) => event.currentTarget.select()}
          onChange={() => {}}
        />
        <CopyButton text={props.token} label={t('credentials.copyToken')} />
      </div>
      <p className="tg-hint">{t('credentials.tokenShownOnce', { id: props.userId ?? '' })}</p>
    </div>
  )
}

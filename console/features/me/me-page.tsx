import type { TFunction } from 'i18next'
import { call } from '#console/api/client.ts'
import '../../ui/forms/forms.css'
import './me.css'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import {
  IdentityProofHost,
  retryWithIdentityProof,
} from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import { AUDITOR, SUPER_ADMIN } from '#read-api/contract/user-roles-and-statuses.ts'
import { AccessTokenPanel } from './access-token-panel.tsx'
import { ChangeEmailDialog } from './change-email-dialog.tsx'
import { CheckInPanel } from './check-in-panel.tsx'
import { InvitePanel } from './invite-panel.tsx'
import { LoginMethodBindingsPanel } from './login-method-bindings-panel.tsx'
import type { MePanel, MePanelProps } from './me-panel-types.ts'
import { PasswordAndDeletionPanel } from './password-and-deletion-panel.tsx'
import { SessionsPanel } from './sessions-panel.tsx'
import { TwoStepPanel } from './two-step-panel.tsx'
import { UsableModelsPanel } from './usable-models-panel.tsx'
import { UserSettingsPanel } from './user-settings-panel.tsx'

/** Shows the mail address of the account, with which the user can log in and reset the password. */
function MailPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const address = user?.email ?? ''
  // The server refuses to remove the address if the user has no other login method.
  const removal = useSubmit(async () => {
    const isConfirmed = await confirm({
      title: t('me.unbindMailTitle'),
      body: t('me.unbindMailBody', { address }),
      confirmText: t('oauth.unbind'),
      tone: 'danger',
    })
    if (!isConfirmed) return
    await retryWithIdentityProof(() =>
      call('POST /api/user/unbind', { body: { provider: 'email' } }),
    )
    await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    showSuccess(t('me.mailUnbound'))
  })
  return (
    <Panel title={t('auth.email')}>
      <ul className="tg-me-rows">
        <li>
          <div className="tg-me-mail">
            <p className="tg-me-row-title tg-me-address">{address || t('me.noMail')}</p>
            <p className="tg-hint">{t('me.mailLead')}</p>
          </div>
          <div className="tg-actions">
            {address !== '' && (
              <Button isBusy={removal.isBusy} onClick={() => void removal.submit()}>
                {t('oauth.unbind')}
              </Button>
            )}
            <Button isDisabled={user === undefined} onClick={() => setOpen(true)}>
              {address === '' ? t('me.bindMail') : t('me.changeMail')}
            </Button>
          </div>
        </li>
      </ul>
      <ChangeEmailDialog isOpen={isOpen} bound={address} onClose={() => setOpen(false)} />
    </Panel>
  )
}

function ProfileCard({ user }: MePanelProps) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  // Until the account has loaded, the page shows the name from the user data that this browser
  // stores.
  const session = useUser()
  const shownUser = user ?? session
  const name = shownUser?.display_name || shownUser?.username || ''
  const wait = <Skeleton width={60} />
  const quota = (value: number | undefined) =>
    value === undefined ? wait : <Quota value={quotaOf(value)} />
  return (
    <section className="tg-me-profile" aria-label={name || t('shell.me')}>
      <div className="tg-me-person">
        <span className="tg-me-avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <div>
          <h2>{name}</h2>
          {shownUser !== null && (
            <p className="tg-me-marks">
              <span className="tg-muted">@{shownUser.username}</span>
              <span className="tg-muted">
                {t('shared.id')} {shownUser.id}
              </span>
              <StatusTag tone={shownUser.role >= SUPER_ADMIN ? 'info' : 'neutral'} isPlain>
                {levelText(t, shownUser.role)}
              </StatusTag>
              <GroupTag name={shownUser.group} />
              <Link to="/user/edit">{t('me.editProfile')}</Link>
            </p>
          )}
        </div>
      </div>
      <LabelledValues
        className="tg-me-figures"
        valueClassName="tg-number"
        values={[
          [t('shared.currentBalance'), quota(user?.quota)],
          [t('me.usedQuota'), quota(user?.used_quota)],
          [t('shared.requests'), user ? number.format(user.request_count) : wait],
        ]}
      />
    </section>
  )
}

export function MePage() {
  const { t } = useTranslation()
  const self = useQuery(selfQuery)
  if (self.error !== null && self.data === undefined) {
    return (
      <Page title={t('shell.me')}>
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      </Page>
    )
  }
  const column = (name: 'main' | 'side') => (
    <div className="tg-me-column">
      {PANELS.filter((panel) => panel.column === name).map(({ id, Panel }) => (
        <Panel key={id} user={self.data} />
      ))}
    </div>
  )
  return (
    <Page title={t('shell.me')} lead={t('me.lead')}>
      <ProfileCard user={self.data} />
      <div className="tg-columns tg-me-columns">
        {column('main')}
        {column('side')}
      </div>
      <IdentityProofHost />
    </Page>
  )
}

const PANELS: readonly MePanel[] = [
  { id: 'models', column: 'main', Panel: UsableModelsPanel },
  { id: 'settings', column: 'main', Panel: UserSettingsPanel },
  { id: 'two-step', column: 'main', Panel: TwoStepPanel },
  { id: 'sessions', column: 'main', Panel: SessionsPanel },
  { id: 'check-in', column: 'side', Panel: CheckInPanel },
  { id: 'invites', column: 'side', Panel: InvitePanel },
  { id: 'mail', column: 'side', Panel: MailPanel },
  { id: 'bindings', column: 'side', Panel: LoginMethodBindingsPanel },
  { id: 'access-token', column: 'side', Panel: AccessTokenPanel },
  { id: 'account', column: 'side', Panel: PasswordAndDeletionPanel },
]

function levelText(t: TFunction, role: number): string {
  if (role >= SUPER_ADMIN) return t('me.admin')
  return t(role === AUDITOR ? 'shared.level.auditor' : 'shared.level.user')
}

import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { Icon } from '#console/ui/icons.tsx'
import { usePageTitle, useSiteName } from '#console/ui/page.tsx'
import type { SecondFactorNeeded } from '#write-api/contract/session.ts'
import { LoginForm } from './login-form.tsx'
import { OtherWays } from './other-ways.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { SecondStepForm } from './second-step-form.tsx'
import type { Asked } from './use-login.ts'

export function LoginPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  usePageTitle(t('auth.title'))
  // Another way in leads here as well, when it is asked for a second step.
  const arrived = useLocation().state as Partial<SecondFactorNeeded> | null
  const [asked, setAsked] = useState<Asked | null>(null)
  const [leftTicket, setLeftTicket] = useState('')
  const needed: Asked | undefined = asked ?? arrived?.second_factor
  if (needed !== undefined && needed.ticket !== leftTicket) {
    return (
      <div className="tg-entry">
        <header className="tg-entry-head">
          <h1>{t('auth.secondTitle')}</h1>
          <p>{t('auth.secondLead')}</p>
        </header>
        <SecondStepForm needed={needed} onRestart={() => setLeftTicket(needed.ticket)} />
      </div>
    )
  }
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('auth.welcome', { name })}</h1>
        <p>{t('auth.lead')}</p>
      </header>
      {params.get('expired') !== null && (
        <p className="tg-alert" role="alert">
          <Icon name="clock" />
          {t('auth.expired')}
        </p>
      )}
      <LoginForm onNeeded={setAsked} />
      <PasskeyButton />
      <OtherWays />
      <Links aff={params.get('aff')} />
    </div>
  )
}

/** `aff`: the code of whoever invited, which goes along to the registration. */
function Links({ aff }: { aff: string | null }): ReactElement {
  const { t } = useTranslation()
  const status = useStatus()
  const isOpen = status?.register_enabled !== false && status?.self_use_mode_enabled !== true
  return (
    <p className="tg-entry-links">
      {isOpen && (
        <span>
          {t('auth.noAccount')}{' '}
          <Link to={aff === null ? '/register' : `/register?${new URLSearchParams({ aff })}`}>
            {t('auth.toRegister')}
          </Link>
        </span>
      )}
      <Link to="/reset">{t('auth.forgot')}</Link>
    </p>
  )
}

import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { Icon } from '#console/ui/icons.tsx'
import { usePageTitle, useSiteName } from '#console/ui/page.tsx'
import type { Status } from '#read-api/contract/status.ts'
import { RegisterForm } from './register-form.tsx'

/** An account for oneself. `aff` in the address is the code of whoever invited. */
export function RegisterPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  const closed = closedBy(useStatus())
  const aff = params.get('aff')
  const login = aff === null ? '/login' : `/login?${new URLSearchParams({ aff })}`
  usePageTitle(t('auth.registerTitle'))
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('auth.registerWelcome', { name })}</h1>
        {closed === null && <p>{t('auth.registerLead')}</p>}
      </header>
      {closed === null ? (
        <RegisterForm />
      ) : (
        <p className="tg-alert" role="alert">
          <Icon name="info" />
          <span>
            {t(`auth.${closed}`)}
            {closed === 'passwordRegisterClosed' && (
              <>
                {' '}
                <Link to={login}>{t('auth.toOtherWays')}</Link>
              </>
            )}
          </span>
        </p>
      )}
      <p className="tg-entry-links">
        <span>
          {t('auth.hasAccount')} <Link to={login}>{t('auth.toLogin')}</Link>
        </span>
      </p>
    </div>
  )
}

/** Why nobody can register here by password; the server says the same to whoever tries. */
function closedBy(status: Status | undefined): 'registerClosed' | 'passwordRegisterClosed' | null {
  if (status?.register_enabled === false || status?.self_use_mode_enabled === true) {
    return 'registerClosed'
  }
  return status?.password_register_enabled === false ? 'passwordRegisterClosed' : null
}

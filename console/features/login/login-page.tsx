import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { Icon } from '#console/ui/icons.tsx'
import { usePageTitle, useSiteName } from '#console/ui/page.tsx'
import { LoginForm } from './login-form.tsx'

export function LoginPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  usePageTitle(t('auth.title'))
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
      <LoginForm />
    </div>
  )
}

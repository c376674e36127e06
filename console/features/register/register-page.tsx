import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router-dom'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { AccountFields } from '#console/ui/forms/account-fields.tsx'
import { MailCodeFields } from '#console/ui/forms/mail-code.tsx'
import { Refusal } from '#console/ui/forms/refusal.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { usePageTitle, useSiteName } from '#console/ui/layout/page.tsx'
import type { Status } from '#read-api/contract/status.ts'
import { useRegisterForm } from './use-register-form.ts'

function RegisterForm(): ReactElement {
  const { t } = useTranslation()
  const human = useHumanCheck('register')
  const register = useRegisterForm(human.take)
  const { draft, change } = register
  return (
    <form ref={register.form} className="tg-entry-form" onSubmit={register.onSubmit} noValidate>
      <AccountFields
        draft={draft}
        words="auth"
        faults={register.faults}
        refused={register.refused}
        onChange={change}
      />
      {register.needsMail && (
        <MailCodeFields
          draft={draft}
          errors={register.mailErrors}
          purpose="register"
          onChange={change}
          takeToken={human.take}
          onNoAddress={register.onNoAddress}
        />
      )}
      {human.box}
      <Refusal text={register.refusal} />
      <Button type="submit" tone="primary" size="large" isFill isBusy={register.isBusy}>
        {t('shell.register')}
      </Button>
    </form>
  )
}

/** The registration form. `aff` in the URL is the inviter's code. */
export function RegisterPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  const closed = closedBy(useStatus())
  const aff = params.get('aff')
  const login = aff === null ? '/login' : `/login?${new URLSearchParams({ aff })}`
  usePageTitle(t('shell.register'))
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

/** Returns the code of the server's error if registration is closed. */
function closedBy(status: Status | undefined): 'registerClosed' | 'passwordRegisterClosed' | null {
  if (status?.register_enabled === false || status?.self_use_mode_enabled === true) {
    return 'registerClosed'
  }
  return status?.password_register_enabled === false ? 'passwordRegisterClosed' : null
}

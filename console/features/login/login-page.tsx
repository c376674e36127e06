import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'react-router-dom'
import { arePasskeysSupported, promptForPasskey } from '#console/api/auth/browser-passkeys.ts'
import { call } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { isLoginMethodEnabled, LOGIN_METHODS } from '#console/ui/login-methods/login-methods.ts'
import { Alert, ServerErrorText } from '#console/ui/messages/alert.tsx'
import type { SessionUser } from '#read-api/contract/users.ts'
import type { SecondFactorRequired } from '#write-api/contract/login.ts'
import { LoginForm, type OnSecondFactorNeeded, type SecondFactor } from './login-form.tsx'
import { OtherLoginMethods } from './other-login-methods.tsx'
import { useCompleteLogin } from './use-complete-login.ts'

const SecondStepForm = lazy(async () => ({
  default: (await import('./second-step-form.tsx')).SecondStepForm,
}))

/** Logs a user in with a passkey, without a username. */
function PasskeyButton() {
  const { t } = useTranslation()
  const enter = useCompleteLogin()
  const { isBusy, formError, submit } = useDraftForm({
    initial: () => ({}),
    save: async () => enter(await passkeyLogin()),
    showsFormError: true,
  })
  if (!arePasskeysSupported()) return null
  return (
    <div className="tg-entry-passkey">
      <Button icon="key" size="large" isFill isBusy={isBusy} onClick={submit}>
        {t('auth.signInWithPasskey')}
      </Button>
      <ServerErrorText text={formError} />
    </div>
  )
}

async function passkeyLogin(): Promise<SessionUser> {
  const options = await call('POST /api/user/login/passkey/begin')
  return call('POST /api/user/login/passkey', {
    body: { passkey: await promptForPasskey(options) },
  })
}

export function LoginPage() {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const name = useSiteName()
  const title = t('shell.login')
  // `useCompleteLogin` sets this state if a login that began on another page requires a second
  // factor.
  const locationState = useLocation().state as Partial<SecondFactorRequired> | null
  const [secondFactor, setSecondFactor] = useState<SecondFactor | null>(null)
  const [leftTicket, setLeftTicket] = useState('')
  const needed: SecondFactor | undefined = secondFactor ?? locationState?.second_factor
  if (needed !== undefined && needed.ticket !== leftTicket) {
    return (
      <SingleTaskPage title={title} heading={t('ui.twoStepLogin')} lead={t('auth.secondStepLead')}>
        <Suspense fallback={null}>
          <SecondStepForm needed={needed} onRestart={() => setLeftTicket(needed.ticket)} />
        </Suspense>
      </SingleTaskPage>
    )
  }
  return (
    <SingleTaskPage title={title} heading={t('auth.welcome', { name })} lead={t('auth.lead')}>
      {params.get('expired') !== null && (
        <Alert role="alert" icon="clock">
          {t('auth.expired')}
        </Alert>
      )}
      <LoginMethods onSecondFactorNeeded={setSecondFactor} />
      <Links aff={params.get('aff')} />
    </SingleTaskPage>
  )
}

/**
 * Shows the login methods. The password form is initially hidden if only the super admin may log in
 * with a password and there are other login methods.
 */
function LoginMethods({ onSecondFactorNeeded }: { onSecondFactorNeeded: OnSecondFactorNeeded }) {
  const { t } = useTranslation()
  const status = useStatus()
  const [isUnfolded, setUnfolded] = useState(false)
  const hasOthers =
    arePasskeysSupported() || LOGIN_METHODS.some((method) => isLoginMethodEnabled(status, method))
  if (status?.password_login_enabled !== false || !hasOthers) {
    return (
      <>
        <LoginForm onSecondFactorNeeded={onSecondFactorNeeded} />
        <PasskeyButton />
        <OtherLoginMethods />
      </>
    )
  }
  return (
    <>
      <OtherLoginMethods isFirst />
      <PasskeyButton />
      {isUnfolded ? (
        <div className="tg-entry-folded">
          <LoginForm onSecondFactorNeeded={onSecondFactorNeeded} />
        </div>
      ) : (
        <p className="tg-entry-links">
          <Button tone="quiet" size="small" onClick={() => setUnfolded(true)}>
            {t('auth.signInWithPassword')}
          </Button>
        </p>
      )}
    </>
  )
}

/**
 * Links to the registration and to the password reset. `aff` is the invitation code from the URL,
 * or null if there is none.
 */
function Links({ aff }: { aff: string | null }) {
  const { t } = useTranslation()
  const status = useStatus()
  const canRegister = status?.register_enabled !== false && status?.self_use_mode_enabled !== true
  return (
    <p className="tg-entry-links">
      {canRegister && (
        <span>
          {t('auth.noAccount')}{' '}
          <Link to={aff === null ? '/register' : `/register?${new URLSearchParams({ aff })}`}>
            {t('auth.toRegister')}
          </Link>
        </span>
      )}
      {status?.password_login_enabled !== false && <Link to="/reset">{t('auth.forgot')}</Link>}
    </p>
  )
}

import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'react-router-dom'
import { arePasskeysSupported, promptForPasskey } from '#console/api/auth/browser-passkeys.ts'
import { call } from '#console/api/client.ts'
import { redirectToProvider, storeReturnPath } from '#console/api/oauth-redirect.ts'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import {
  ExternalLoginButtons,
  type Messenger,
  MessengerDialog,
} from '#console/ui/login-methods/external-login-buttons.tsx'
import {
  EXTERNAL_LOGIN_METHODS,
  isExternalLoginMethodEnabled,
} from '#console/ui/login-methods/external-login-methods.ts'
import { Alert, ServerErrorText } from '#console/ui/messages/alert.tsx'
import type { SessionUser } from '#read-api/contract/users.ts'
import type { SecondFactorRequired } from '#write-api/contract/login.ts'
import { LoginForm, type OnSecondFactorNeeded, type SecondFactor } from './login-form.tsx'
import { useCompleteLogin } from './use-complete-login.ts'

const SecondFactorForm = lazy(async () => ({
  default: (await import('./second-factor-form.tsx')).SecondFactorForm,
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
          <SecondFactorForm needed={needed} onRestart={() => setLeftTicket(needed.ticket)} />
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
 * Shows the login methods. The password form is initially hidden if there are other login methods
 * and only the super admin may log in with a password.
 */
function LoginMethods({ onSecondFactorNeeded }: { onSecondFactorNeeded: OnSecondFactorNeeded }) {
  const { t } = useTranslation()
  const status = useStatus()
  const [isUnfolded, setUnfolded] = useState(false)
  const hasOthers =
    arePasskeysSupported() ||
    EXTERNAL_LOGIN_METHODS.some((method) => isExternalLoginMethodEnabled(status, method))
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

/**
 * Shows buttons for login methods other than a password. `isFirst` is true if there is no login
 * form above the buttons.
 */
function OtherLoginMethods({ isFirst = false }: { isFirst?: boolean }) {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const [dialog, setDialog] = useState<Messenger | null>(null)
  const methods = EXTERNAL_LOGIN_METHODS.filter((method) =>
    isExternalLoginMethodEnabled(status, method),
  )
  if (methods.length === 0) return null
  return (
    <section className="tg-other-methods" aria-label={t('oauth.otherMethods')}>
      {!isFirst && <p className="tg-or">{t('ui.or')}</p>}
      <ExternalLoginButtons
        methods={methods}
        leave={(type) => redirectToProvider({ type, ...purposeOf(params) }, params.get('returnTo'))}
        onMessenger={setDialog}
      />
      {dialog !== null && <Dialog method={dialog} onClose={() => setDialog(null)} />}
    </section>
  )
}

function Dialog(props: { method: Messenger; onClose: () => void }) {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const enter = useCompleteLogin()
  const returnTo = params.get('returnTo')
  const { aff } = purposeOf(params)
  const weChat = async (code: string) =>
    enter(
      await call('GET /api/oauth/wechat', {
        query: { code, ...(aff === undefined ? {} : { aff }) },
      }),
      { returnTo },
    )
  const getState = () => {
    storeReturnPath(returnTo)
    return call('GET /api/oauth/state', { query: purposeOf(params) })
  }
  return (
    <MessengerDialog
      {...props}
      act="login"
      title={t('oauth.signInWith', { site: t(`oauth.siteNameInSentence.${props.method}`) })}
      submitText={t('shell.login')}
      onCode={weChat}
      getState={getState}
    />
  )
}

/**
 * Returns the purpose of the OAuth request, and the invitation code from the URL. The purpose is
 * always a login, because login methods are connected to an account only on the account page.
 */
function purposeOf(params: URLSearchParams): { intent: 'login'; aff?: string } {
  const aff = params.get('aff')
  return aff === null ? { intent: 'login' } : { intent: 'login', aff }
}

import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { redirectToProvider, storeReturnPath } from '#console/api/oauth-redirect.ts'
import { useStatus } from '#console/api/status.ts'
import { LoginMethodButtons } from '#console/ui/login-methods/login-method-buttons.tsx'
import { isLoginMethodEnabled, LOGIN_METHODS } from '#console/ui/login-methods/login-methods.ts'
import { type Messenger, MessengerDialog } from '#console/ui/login-methods/messenger-dialog.tsx'
import { useCompleteLogin } from './use-complete-login.ts'

/**
 * Shows buttons for login methods other than a password. `isFirst` is true if there is no login
 * form above the buttons.
 */
export function OtherLoginMethods({ isFirst = false }: { isFirst?: boolean }) {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const [dialog, setDialog] = useState<Messenger | null>(null)
  const methods = LOGIN_METHODS.filter((method) => isLoginMethodEnabled(status, method))
  if (methods.length === 0) return null
  return (
    <section className="tg-other-methods" aria-label={t('oauth.otherMethods')}>
      {!isFirst && <p className="tg-or">{t('ui.or')}</p>}
      <LoginMethodButtons
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
 * always a login, because only the account page connects login methods to an account.
 */
function purposeOf(params: URLSearchParams): { intent: 'login'; aff?: string } {
  const aff = params.get('aff')
  return aff === null ? { intent: 'login' } : { intent: 'login', aff }
}

import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { loginPath } from '#console/api/auth/login-return-path.ts'
import { redirectToProvider } from '#console/api/oauth-redirect.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { useStatus } from '#console/api/status.ts'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import {
  ExternalLoginButtons,
  isMessenger,
} from '#console/ui/login-methods/external-login-buttons.tsx'
import {
  EXTERNAL_ID_FIELDS,
  EXTERNAL_LOGIN_METHODS,
  isExternalLoginMethodEnabled,
} from '#console/ui/login-methods/external-login-methods.ts'

const REDIRECT_METHODS = EXTERNAL_LOGIN_METHODS.filter((method) => !isMessenger(method))

/** Asks users who have neither a password nor a second factor to log in again. */
export function ReloginDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const user = useQuery(selfQuery).data
  const status = useStatus()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const here = `${pathname}${search}`
  const methods = REDIRECT_METHODS.filter(
    (method) =>
      (user?.[EXTERNAL_ID_FIELDS[method]] ?? '') !== '' &&
      isExternalLoginMethodEnabled(status, method),
  )
  const toLogin = async () => {
    onClose()
    await navigate(loginPath(here, { isExpired: false }))
  }
  return (
    <Dialog
      isOpen
      title={t('credentials.relogin')}
      lead={t('credentials.reloginLead')}
      role="alertdialog"
      foot={
        <>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          {methods.length === 0 && (
            <Button tone="primary" onClick={() => void toLogin()}>
              {t('credentials.toLogin')}
            </Button>
          )}
        </>
      }
      onClose={onClose}
    >
      {methods.length > 0 && (
        <div className="tg-other-methods">
          <ExternalLoginButtons
            methods={methods}
            leave={(type) => redirectToProvider({ type, intent: 'anew' }, here)}
          />
        </div>
      )}
    </Dialog>
  )
}

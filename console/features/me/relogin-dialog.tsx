import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { selfQuery } from '#console/api/account.ts'
import { loginPath } from '#console/api/auth/login-redirect.ts'
import { sendAway } from '#console/api/oauth.ts'
import { useStatus } from '#console/api/status.ts'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { WayButtons } from '#console/ui/login-methods/login-method-buttons.tsx'
import { isOpen, WAYS } from '#console/ui/login-methods/login-methods.ts'
import { isMessenger } from '#console/ui/login-methods/messenger-dialog.tsx'
import { IDS } from './login-method-fields.ts'

/** The login methods that redirect the user to another site. */
const TRIPS = WAYS.filter((way) => !isMessenger(way))

/** The dialog is for a user without a password or second factor. */
export function LogInAnew({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const user = useQuery(selfQuery).data
  const status = useStatus()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const here = `${pathname}${search}`
  const ways = TRIPS.filter((way) => (user?.[IDS[way]] ?? '') !== '' && isOpen(status, way))
  const toLogin = async () => {
    onClose()
    await navigate(loginPath(here, { isExpired: false }))
  }
  return (
    <Dialog
      isOpen
      title={t('security.anew')}
      lead={t('security.anewLead')}
      role="alertdialog"
      foot={
        <>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          {ways.length === 0 && (
            <Button tone="primary" onClick={() => void toLogin()}>
              {t('security.toLogin')}
            </Button>
          )}
        </>
      }
      onClose={onClose}
    >
      {ways.length > 0 && (
        <div className="tg-other-ways">
          <WayButtons ways={ways} leave={(type) => sendAway({ type, intent: 'anew' }, here)} />
        </div>
      )}
    </Dialog>
  )
}

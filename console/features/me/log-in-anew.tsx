import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { sendAway } from '#console/api/auth/trip.ts'
import { selfQuery } from '#console/api/me/self.ts'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { Overlay } from '#console/ui/overlay.tsx'
import { showError } from '#console/ui/toast.ts'
import { isOpen, WAY_ICONS, type Way } from '#console/ui/ways-in/ways.ts'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import { IDS } from './bound-ways.ts'

/** The other sites that a tab is sent to and comes back from. */
const TRIPS: readonly OAuthType[] = ['github', 'oidc', 'linuxdo']

/**
 * Who has nothing to prove it by comes in anew, the way that is bound, and is back at this page;
 * who came in by a messenger, by the login page.
 */
export function LogInAnew({ onClose }: { onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const id = useId()
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
    <Overlay
      isOpen
      onClose={onClose}
      labelledBy={id}
      describedBy={`${id}-lead`}
      role="alertdialog"
      className="tg-dialog"
    >
      <h2 id={id}>{t('security.anew')}</h2>
      <div id={`${id}-lead`} className="tg-dialog-body">
        {t('security.anewLead')}
      </div>
      <Ways ways={ways} here={here} />
      <div className="tg-dialog-foot">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        {ways.length === 0 && (
          <Button tone="primary" onClick={() => void toLogin()}>
            {t('security.toLogin')}
          </Button>
        )}
      </div>
    </Overlay>
  )
}

function Ways({ ways, here }: { ways: readonly OAuthType[]; here: string }): ReactElement | null {
  const { t } = useTranslation()
  const [away, setAway] = useState<Way | null>(null)
  const go = async (type: OAuthType) => {
    setAway(type)
    try {
      await sendAway({ type, intent: 'anew' }, here)
    } catch (error) {
      showError(error)
      setAway(null)
    }
  }
  if (ways.length === 0) return null
  return (
    <div className="tg-other-ways">
      {ways.map((way) => (
        <Button
          key={way}
          isFill
          size="large"
          icon={WAY_ICONS[way]}
          isBusy={away === way}
          isDisabled={away !== null && away !== way}
          onClick={() => void go(way)}
        >
          {t('oauth.by', { site: t(`oauth.within.${way}`) })}
        </Button>
      ))}
    </div>
  )
}

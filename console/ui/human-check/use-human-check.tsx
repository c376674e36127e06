import { lazy, type ReactElement, Suspense, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import { showInfo } from '../messages/toast.ts'

const HumanCheckBox = lazy(async () => ({
  default: (await import('./human-check-box.tsx')).HumanCheckBox,
}))

type HumanCheck = {
  /** The CAPTCHA box to show in the form, or null if the site requires no CAPTCHA. */
  readonly box: ReactElement | null
  /**
   * Returns the token to send to the server, and requests another token for the next call. Returns
   * an empty text if the site requires no CAPTCHA. If the user has not completed the CAPTCHA, shows
   * a message and returns null.
   */
  readonly takeToken: () => string | null
}

/** Returns a CAPTCHA for a form. `action` tells the server the purpose of the form. */
export function useHumanCheck(action: 'login' | 'register' | 'verification' | 'reset'): HumanCheck {
  const { t } = useTranslation()
  const status = useStatus()
  const token = useRef('')
  const [round, setRound] = useState(0)
  if (status?.turnstile_check !== true) return { box: null, takeToken: () => '' }
  const takeToken = (): string | null => {
    const { current } = token
    if (current === '') {
      showInfo(t('auth.humanCheckPending'))
      return null
    }
    // The token is forgotten, because it is valid for only one request.
    token.current = ''
    setRound(round + 1)
    return current
  }
  const onToken = (value: string): void => {
    token.current = value
  }
  const siteKey = status.turnstile_site_key
  const box = (
    <Suspense fallback={null}>
      <HumanCheckBox siteKey={siteKey} action={action} round={round} onToken={onToken} />
    </Suspense>
  )
  return { box, takeToken }
}

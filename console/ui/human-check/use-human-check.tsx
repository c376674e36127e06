import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import { showInfo } from '../messages/toast.ts'
import { HumanBox } from './human-box.tsx'

export type HumanCheck = {
  /** The widget; null when the site requires no human verification. */
  readonly box: ReactElement | null
  /**
   * Returns the token for one request, empty when none is required. While the verification is not
   * complete, it returns null and tells the visitor to wait.
   */
  readonly take: () => string | null
}

/** The human verification of a form. `action` is its purpose, by the server's name. */
export function useHumanCheck(action: 'login' | 'register' | 'verification' | 'reset'): HumanCheck {
  const { t } = useTranslation()
  const status = useStatus()
  const token = useRef('')
  const [round, setRound] = useState(0)
  if (status?.turnstile_check !== true) return { box: null, take: () => '' }
  const take = (): string | null => {
    const { current } = token
    if (current === '') {
      showInfo(t('auth.humanWait'))
      return null
    }
    // A token is valid for one request; the next request needs another verification.
    token.current = ''
    setRound(round + 1)
    return current
  }
  const onToken = (given: string): void => {
    token.current = given
  }
  const siteKey = status.turnstile_site_key
  return { box: <HumanBox {...{ siteKey, action, round, onToken }} />, take }
}

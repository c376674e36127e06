import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import { showInfo } from '../toast.ts'
import { HumanBox } from './human-box.tsx'

export type HumanCheck = {
  /** Where the visitor is checked; null while the site asks for no check. */
  readonly box: ReactElement | null
  /**
   * The token for one call, empty where none is needed. null, and the visitor told to wait, while
   * the check is not through.
   */
  readonly take: () => string | null
}

/** The human check of a form. `action`: what it is for, as the server names it. */
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
    // A token is good for one call: the next one needs a check of its own.
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

import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { setUp } from '#console/api/auth/set-up.ts'
import { clearUser } from '#console/api/session.ts'
import { showInfo } from '#console/ui/toast.ts'
import { type SetupDraft, setupBody } from './setup-draft.ts'

const RELOAD_DELAY_MS = 1500

export type SetupState = { phase: 'ready' | 'busy' | 'done'; refusal: string }

/** Sets the system up once; after it has worked the page reloads, as what it knows has changed. */
export function useSetUp(): SetupState & { submit: (draft: SetupDraft) => void } {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [state, setState] = useState<SetupState>({ phase: 'ready', refusal: '' })
  const isUnderWay = useRef(false)
  const submit = async (draft: SetupDraft) => {
    if (isUnderWay.current) return showInfo(t('auth.repeated'))
    isUnderWay.current = true
    setState({ phase: 'busy', refusal: '' })
    try {
      await setUp(setupBody(draft, params.get('token')))
      // Whoever was logged in was so on another installation.
      clearUser()
      setState({ phase: 'done', refusal: '' })
      setTimeout(() => window.location.reload(), RELOAD_DELAY_MS)
    } catch (error) {
      isUnderWay.current = false
      const message = error instanceof Error ? error.message : ''
      setState({ phase: 'ready', refusal: message || t('setup.failed') })
    }
  }
  return { ...state, submit: (draft) => void submit(draft) }
}

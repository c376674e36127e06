import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { request } from '#console/api/request.ts'
import { clearUser, storeUser } from '#console/api/session.ts'
import { showInfo } from '#console/ui/toast.ts'
import type { SessionUser } from '#read-api/contract/user.ts'
import type { Setup } from '#write-api/contract/setup.ts'
import { type SetupDraft, setupBody } from './setup-draft.ts'

/** Long enough to read that it worked. */
const LEAVE_DELAY_MS = 800

export type SetupState = { phase: 'ready' | 'busy' | 'done'; refusal: string }

/** Sets the system up once, and leads to the first steps; the page is loaded again for that. */
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
      const user = await setUp(setupBody(draft, params.get('token')))
      // A user that is stored already belongs to another installation.
      if (user === null) clearUser()
      else storeUser(user)
      setState({ phase: 'done', refusal: '' })
      const path = user === null ? '/login' : '/app/start'
      setTimeout(() => window.location.assign(path), LEAVE_DELAY_MS)
    } catch (error) {
      isUnderWay.current = false
      const message = error instanceof Error ? error.message : ''
      setState({ phase: 'ready', refusal: message || t('setup.failed') })
    }
  }
  return { ...state, submit: (draft) => void submit(draft) }
}

/**
 * Creates the root account and picks the mode; refused once that has been done. Answers the user
 * that this browser is signed in as from then on; null where it has to sign in.
 */
async function setUp(setup: Setup): Promise<SessionUser | null> {
  const { data } = await request<SessionUser | null>({
    method: 'POST',
    path: '/api/setup',
    body: setup,
  })
  return data
}

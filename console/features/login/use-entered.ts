import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useNavigate, useOutletContext } from 'react-router-dom'
import { safeReturnTo } from '#console/api/auth/return-to.ts'
import { storeUser } from '#console/api/session.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { LoginResult } from '#write-api/contract/login.ts'

/** Completes an OAuth login: stores the user and redirects. */
export function useEntered() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const isKnownPath = useOutletContext<(path: string) => boolean>()
  return async (entered: LoginResult, returnTo: string | null): Promise<void> => {
    // There is no session yet, because the login page must first ask for the second factor.
    if ('second_factor' in entered) {
      return navigate('/login', { replace: true, state: { ...entered, returnTo } })
    }
    client.clear()
    storeUser(entered)
    showSuccess(t('auth.success'), { goesAlong: true })
    return navigate(safeReturnTo(returnTo, window.location.origin, isKnownPath), { replace: true })
  }
}

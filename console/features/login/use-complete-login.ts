import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate, useOutletContext, useSearchParams } from 'react-router-dom'
import { safeReturnPath } from '#console/api/auth/login-return-path.ts'
import { isRoot, storeUser } from '#console/api/session.ts'
import { showSuccess, showWarning } from '#console/ui/messages/toast.ts'
import type { LoginResult } from '#write-api/contract/login.ts'

export function useCompleteLogin() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [params] = useSearchParams()
  // This state comes from the OAuth page. If a login there requires a second factor, `returnTo` is
  // the path to open after the login.
  const locationState = useLocation().state as { returnTo?: string | null } | null
  const isKnownPath = useOutletContext<(path: string) => boolean>()
  return async (
    result: LoginResult,
    {
      isCommonPassword = false,
      returnTo = params.get('returnTo') ?? locationState?.returnTo ?? null,
    } = {},
  ): Promise<void> => {
    // The login page must first ask for the second factor, because there is no session yet.
    if ('second_factor' in result) {
      return navigate('/login', { replace: true, state: { ...result, returnTo } })
    }
    client.clear()
    storeUser(result)
    const mustWarn = isCommonPassword && isRoot(result)
    if (mustWarn)
      showWarning(t('auth.defaultPassword'), { stayMs: 20_000, staysOnNavigation: true })
    else showSuccess(t('auth.success'), { staysOnNavigation: true })
    await navigate(safeReturnPath(returnTo, window.location.origin, isKnownPath), { replace: true })
  }
}

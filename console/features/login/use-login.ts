import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate, useOutletContext, useSearchParams } from 'react-router-dom'
import { login } from '#console/api/auth/login.ts'
import { safeReturnTo } from '#console/api/auth/return-to.ts'
import { storeUser } from '#console/api/session.ts'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import type { SessionUser } from '#read-api/contract/user.ts'
import type { Login } from '#write-api/contract/setup.ts'

/** Logs in once at a time; a second press while one is under way is told so and does nothing. */
export function useLogin() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const isKnownPath = useOutletContext<(path: string) => boolean>()
  const isUnderWay = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState('')
  const logIn = async (credentials: Login, takeToken: () => string | null) => {
    if (isUnderWay.current) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    isUnderWay.current = true
    setBusy(true)
    setRefusal('')
    try {
      const user = await login(credentials, token)
      client.clear()
      storeUser(user)
      const warning = warningOf(user, credentials)
      if (warning !== null) showInfo(t(`auth.${warning}`), { stayMs: 20_000, goesAlong: true })
      else showSuccess(t('auth.success'), { goesAlong: true })
      const target = safeReturnTo(params.get('returnTo'), window.location.origin, isKnownPath)
      await navigate(target, { replace: true })
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return {
    logIn: (credentials: Login, takeToken: () => string | null) =>
      void logIn(credentials, takeToken),
    isBusy,
    refusal,
  }
}

/** A password to be changed: one that everybody knows, or that came by a reset. */
function warningOf(user: SessionUser, credentials: Login): 'defaultPassword' | 'mustChange' | null {
  if (isDefaultLogin(credentials)) return 'defaultPassword'
  return user.must_change_password === true ? 'mustChange' : null
}

/** The pair that such systems have shipped with, known to everybody. */
const isDefaultLogin = ({ username, password }: Login): boolean =>
  username === 'root' && password === '123456'

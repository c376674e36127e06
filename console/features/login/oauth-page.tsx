import { useEffect, useEffectEvent, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate, useSearchParams } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { storedReturnPath, storeReturnPath } from '#console/api/oauth-redirect.ts'
import { SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { EXTERNAL_LOGIN_METHODS } from '#console/ui/login-methods/external-login-methods.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { LoginOrBindResult, TelegramQuery } from '#write-api/contract/oauth.ts'
import { useCompleteLogin } from './use-complete-login.ts'

/**
 * The page to which OAuth providers redirect. This page completes a login, or connects a login
 * method to the account.
 */
export function OAuthPage() {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const enter = useCompleteLogin()
  const isStarted = useRef(false)
  const method = EXTERNAL_LOGIN_METHODS.find((name) => pathname === `/oauth/${name}`) ?? 'oidc'
  const site = t(`oauth.siteNameInSentence.${method}`)
  const end = useEffectEvent(async () => {
    try {
      const answer = await completeOAuth(method, params, t('oauth.refused', { site }))
      const returnTo = storedReturnPath()
      storeReturnPath(null)
      if (answer !== null) return await enter(answer, { returnTo })
      showSuccess(t('oauth.bound', { site }), { staysOnNavigation: true })
      await navigate('/app/me', { replace: true })
    } catch (error) {
      storeReturnPath(null)
      showError(error, { staysOnNavigation: true })
      await navigate('/admin/settings', { replace: true })
    }
  })
  useEffect(() => {
    // Sends the request only once, because an authorization code can be used only once.
    if (isStarted.current) return
    isStarted.current = true
    void end()
  }, [])
  return <SingleTaskPage title={t('oauth.title')} lead={t('oauth.checking', { site })} />
}

/**
 * Completes the OAuth request on the server. Returns the result of the login, or null if a login
 * method was connected to the account.
 */
async function completeOAuth(
  method: string,
  params: URLSearchParams,
  refusedText: string,
): Promise<LoginOrBindResult> {
  const query = Object.fromEntries(params)
  if (method === 'telegram') {
    const { act, ...telegramParams } = query
    // A link without `state` may be an attack that logs the user in to the attacker's account.
    if (telegramParams.state === undefined) throw new Error(refusedText)
    const input = { query: telegramParams as TelegramQuery }
    if (act === 'bind') return call('GET /api/oauth/telegram/bind', input)
    return call('GET /api/oauth/telegram/login', input)
  }
  const { code, state, iss } = query
  if (code === undefined || state === undefined) throw new Error(refusedText)
  return call('GET /api/oauth/:type', { params: { type: method }, query: { code, state, iss } })
}

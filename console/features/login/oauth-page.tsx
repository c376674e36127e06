import { type ReactElement, useEffect, useEffectEvent, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation, useNavigate, useSearchParams } from 'react-router-dom'
import { rememberedReturn, rememberReturn } from '#console/api/oauth.ts'
import { fetchData } from '#console/api/request.ts'
import { usePageTitle } from '#console/ui/page.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { WAYS } from '#console/ui/ways-in/ways.ts'
import type { LoginOrBindResult } from '#write-api/contract/oauth.ts'
import { useEntered } from './use-entered.ts'

/** Where another site sends the browser back to: ends the journey, and goes on. */
export function OAuthPage(): ReactElement {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const entered = useEntered()
  const isStarted = useRef(false)
  const way = WAYS.find((name) => pathname === `/oauth/${name}`) ?? 'oidc'
  const site = t(`oauth.within.${way}`)
  usePageTitle(t('oauth.title'))
  const end = useEffectEvent(async () => {
    try {
      const answer = await comeBack(way, params, t('oauth.refused', { site }))
      const returnTo = rememberedReturn()
      rememberReturn(null)
      if (answer !== null) return await entered(answer, returnTo)
      showSuccess(t('oauth.bound', { site }), { goesAlong: true })
      await navigate('/app/me', { replace: true })
    } catch (error) {
      rememberReturn(null)
      showError(error, { goesAlong: true })
      await navigate('/admin/settings', { replace: true })
    }
  })
  useEffect(() => {
    // A code is good once: a second time would be a failure.
    if (isStarted.current) return
    isStarted.current = true
    void end()
  }, [])
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('oauth.title')}</h1>
        <p>{t('oauth.checking', { site })}</p>
      </header>
    </div>
  )
}

/** What was agreed to is asked of the server; what was not, it need not be told. */
function comeBack(way: string, params: URLSearchParams, refused: string) {
  const query = Object.fromEntries(params)
  if (way === 'telegram') {
    const { act, ...said } = query
    // Without a state the link may be anybody's: it would log in as whoever made it.
    if (said.state === undefined) throw new Error(refused)
    return telegramReturn(act === 'bind' ? 'bind' : 'login', said)
  }
  const { code, state, iss } = query
  if (code === undefined || state === undefined) throw new Error(refused)
  return oauthReturn(way, { code, state, ...(iss === undefined ? {} : { iss }) })
}

/** Ends a journey to another site, by what it sent the browser back with; null: it was bound. */
const oauthReturn = (
  type: string,
  query: Readonly<Record<string, string>>,
): Promise<LoginOrBindResult> => fetchData({ path: `/api/oauth/${type}`, query })

/** Logs in, or binds, by what Telegram's widget said; null: it was bound. */
const telegramReturn = (
  act: 'login' | 'bind',
  query: Readonly<Record<string, string>>,
): Promise<LoginOrBindResult> => fetchData({ path: `/api/oauth/telegram/${act}`, query })

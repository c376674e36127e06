import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { oauthState, rememberReturn, sendAway } from '#console/api/oauth.ts'
import { fetchData } from '#console/api/request.ts'
import { useStatus } from '#console/api/status.ts'
import { type Messenger, MessengerDialog } from '#console/ui/ways-in/messenger-dialog.tsx'
import { WayButtons } from '#console/ui/ways-in/way-buttons.tsx'
import { isOpen, WAYS } from '#console/ui/ways-in/ways.ts'
import type { LoginResult } from '#write-api/contract/login.ts'
import type { WeChatQuery } from '#write-api/contract/oauth.ts'
import { useEntered } from './use-entered.ts'

/** A button for each of the other ways in that the site offers. `isFirst`: other than nothing. */
export function OtherWays({ isFirst = false }: { isFirst?: boolean }): ReactElement | null {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const [dialog, setDialog] = useState<Messenger | null>(null)
  const ways = WAYS.filter((way) => isOpen(status, way))
  if (ways.length === 0) return null
  return (
    <section className="tg-other-ways" aria-label={t('oauth.otherWays')}>
      {!isFirst && <p className="tg-or">{t('oauth.or')}</p>}
      <WayButtons
        ways={ways}
        leave={(type) => sendAway({ type, ...purposeOf(params) }, params.get('returnTo'))}
        onMessenger={setDialog}
      />
      {dialog !== null && <Dialog way={dialog} onClose={() => setDialog(null)} />}
    </section>
  )
}

function Dialog(props: { way: Messenger; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const entered = useEntered()
  const returnTo = params.get('returnTo')
  const { aff } = purposeOf(params)
  const weChat = async (code: string) =>
    entered(await weChatLogin({ code, ...(aff === undefined ? {} : { aff }) }), returnTo)
  const getState = () => {
    rememberReturn(returnTo)
    return oauthState(purposeOf(params))
  }
  return (
    <MessengerDialog
      {...props}
      act="login"
      title={t('oauth.by', { site: t(`oauth.within.${props.way}`) })}
      submitText={t('auth.submit')}
      onCode={weChat}
      getState={getState}
    />
  )
}

/** Whoever is on the login page logs in, though this browser may still know somebody. */
function purposeOf(params: URLSearchParams): { intent: 'login'; aff?: string } {
  const aff = params.get('aff')
  return aff === null ? { intent: 'login' } : { intent: 'login', aff }
}

/** Logs in by the code that the account of the QR code answers with. */
const weChatLogin = (query: WeChatQuery): Promise<LoginResult> =>
  fetchData({ path: '/api/oauth/wechat', query })

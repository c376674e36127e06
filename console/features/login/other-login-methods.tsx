import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { rememberReturn, sendAway } from '#console/api/oauth.ts'
import { useStatus } from '#console/api/status.ts'
import { WayButtons } from '#console/ui/login-methods/login-method-buttons.tsx'
import { isOpen, WAYS } from '#console/ui/login-methods/login-methods.ts'
import { type Messenger, MessengerDialog } from '#console/ui/login-methods/messenger-dialog.tsx'
import { useEnter } from './use-complete-login.ts'

/** `isFirst` is true if there is no form before the buttons. */
export function OtherWays({ isFirst = false }: { isFirst?: boolean }) {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const [dialog, setDialog] = useState<Messenger | null>(null)
  const ways = WAYS.filter((way) => isOpen(status, way))
  if (ways.length === 0) return null
  return (
    <section className="tg-other-ways" aria-label={t('oauth.otherWays')}>
      {!isFirst && <p className="tg-or">{t('ui.or')}</p>}
      <WayButtons
        ways={ways}
        leave={(type) => sendAway({ type, ...purposeOf(params) }, params.get('returnTo'))}
        onMessenger={setDialog}
      />
      {dialog !== null && <Dialog way={dialog} onClose={() => setDialog(null)} />}
    </section>
  )
}

function Dialog(props: { way: Messenger; onClose: () => void }) {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const enter = useEnter()
  const returnTo = params.get('returnTo')
  const { aff } = purposeOf(params)
  const weChat = async (code: string) =>
    enter(
      await call('GET /api/oauth/wechat', {
        query: { code, ...(aff === undefined ? {} : { aff }) },
      }),
      { returnTo },
    )
  const getState = () => {
    rememberReturn(returnTo)
    return call('GET /api/oauth/state', { query: purposeOf(params) })
  }
  return (
    <MessengerDialog
      {...props}
      act="login"
      title={t('oauth.by', { site: t(`oauth.within.${props.way}`) })}
      submitText={t('shell.login')}
      onCode={weChat}
      getState={getState}
    />
  )
}

/** The intent is always a login, because only the account page connects a login method. */
function purposeOf(params: URLSearchParams): { intent: 'login'; aff?: string } {
  const aff = params.get('aff')
  return aff === null ? { intent: 'login' } : { intent: 'login', aff }
}

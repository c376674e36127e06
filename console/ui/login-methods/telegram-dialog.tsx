import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { createScriptUrl } from '../browser/trusted-script-url.ts'
import { Dialog } from '../dialogs/dialog.tsx'
import { Button } from '../elements/button.tsx'
import { ServerErrorText } from '../messages/alert.tsx'

const scriptUrl = createScriptUrl(
  'telegram-widget',
  'https://telegram.org/js/telegram-widget.js?22',
)

/**
 * Creates the script element that shows Telegram's login button. The button is used in its redirect
 * mode, because the callback mode (core.telegram.org/widgets/login) needs `eval`.
 */
function telegramScript(widget: {
  readonly bot: string
  readonly language: string
  readonly authUrl: string
}): HTMLScriptElement {
  const script = document.createElement('script')
  script.async = true
  script.dataset.telegramLogin = widget.bot
  script.dataset.size = 'large'
  script.dataset.lang = widget.language
  script.dataset.authUrl = widget.authUrl
  script.src = scriptUrl()
  return script
}

/** Shows Telegram's login button. After the login at Telegram, this tab opens `/oauth/telegram`. */
export function TelegramDialog(props: {
  isOpen: boolean
  title: string
  bot: string
  act: 'login' | 'bind'
  getState: () => Promise<string>
  onClose: () => void
}) {
  const { t } = useTranslation()
  return (
    <Dialog
      isOpen={props.isOpen}
      title={props.title}
      lead={t('oauth.telegramLead')}
      className="tg-form-dialog"
      foot={<Button onClick={props.onClose}>{t('ui.cancel')}</Button>}
      onClose={props.onClose}
    >
      {props.isOpen && <Widget bot={props.bot} act={props.act} getState={props.getState} />}
    </Dialog>
  )
}

function Widget(props: { bot: string; act: 'login' | 'bind'; getState: () => Promise<string> }) {
  const { t } = useTranslation()
  const { bot, act } = props
  const language = useLocale()
  const box = useRef<HTMLDivElement>(null)
  const [errorText, setErrorText] = useState('')
  const getState = useEffectEvent(props.getState)
  useEffect(() => {
    let isUnmounted = false
    const show = async () => {
      const state = await getState()
      if (isUnmounted || box.current === null) return
      const address = new URL('/oauth/telegram', window.location.origin)
      address.searchParams.set('act', act)
      address.searchParams.set('state', state)
      const script = telegramScript({ bot, language, authUrl: address.href })
      script.addEventListener('error', () => setErrorText(t('oauth.telegramFailed')))
      box.current.replaceChildren(script)
    }
    setErrorText('')
    show().catch((error: unknown) => setErrorText(error instanceof Error ? error.message : ''))
    return () => {
      isUnmounted = true
    }
  }, [bot, act, language, t])
  return (
    <>
      <div ref={box} className="tg-telegram" />
      <ServerErrorText text={errorText} />
    </>
  )
}

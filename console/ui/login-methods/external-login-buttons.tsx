import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import { Button } from '../elements/button.tsx'
import { showError } from '../messages/toast.ts'
import { EXTERNAL_LOGIN_ICONS, type ExternalLoginMethod } from './external-login-methods.ts'

/**
 * The buttons for logging in with an account of another site. A button that leads to another site
 * stays busy until that site opens.
 */
export function ExternalLoginButtons(props: {
  methods: readonly ExternalLoginMethod[]
  leave: (type: OAuthType) => Promise<void>
  onMessenger?: (method: Messenger) => void
}) {
  const { methods, leave, onMessenger } = props
  const { t } = useTranslation()
  const [away, setAway] = useState<ExternalLoginMethod | null>(null)
  const select = async (method: ExternalLoginMethod): Promise<void> => {
    if (isMessenger(method)) return onMessenger?.(method)
    setAway(method)
    try {
      await leave(method)
    } catch (error) {
      showError(error)
      setAway(null)
    }
  }
  return (
    <>
      {methods.map((method) => (
        <Button
          key={method}
          isFill
          size="large"
          icon={EXTERNAL_LOGIN_ICONS[method]}
          isBusy={away === method}
          isDisabled={away !== null && away !== method}
          onClick={() => void select(method)}
        >
          {t('oauth.signInWith', { site: t(`oauth.siteNameInSentence.${method}`) })}
        </Button>
      ))}
    </>
  )
}

const WeChatDialog = lazy(async () => ({
  default: (await import('./wechat-dialog.tsx')).WeChatDialog,
}))
const TelegramDialog = lazy(async () => ({
  default: (await import('./telegram-dialog.tsx')).TelegramDialog,
}))

/** The login methods that open a dialog. The other buttons open a page of another site. */
export type Messenger = 'wechat' | 'telegram'

/**
 * The dialog for WeChat or Telegram. The script of the dialog is loaded when the dialog is first
 * opened.
 */
export function MessengerDialog(props: {
  method: Messenger
  act: 'login' | 'bind'
  title: string
  submitText: string
  /**
   * Called with the code that the user got from WeChat. If the server rejects the code, this
   * function throws an error.
   */
  onCode: (code: string) => Promise<void>
  /** Returns the OAuth state: a random text that the response of Telegram must contain. */
  getState: () => Promise<string>
  onClose: () => void
}) {
  const status = useStatus()
  const { method, title, onClose } = props
  return (
    <Suspense fallback={null}>
      {method === 'wechat' ? (
        <WeChatDialog
          isOpen
          title={title}
          submitText={props.submitText}
          qrCode={status?.wechat_qrcode ?? ''}
          onCode={props.onCode}
          onClose={onClose}
        />
      ) : (
        <TelegramDialog
          isOpen
          title={title}
          act={props.act}
          bot={status?.telegram_bot_name ?? ''}
          getState={props.getState}
          onClose={onClose}
        />
      )}
    </Suspense>
  )
}

export const isMessenger = (method: string): method is Messenger =>
  method === 'wechat' || method === 'telegram'

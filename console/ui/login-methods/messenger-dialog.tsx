import { lazy, Suspense } from 'react'
import { useStatus } from '#console/api/status.ts'

const WeChatDialog = lazy(async () => ({
  default: (await import('./wechat-dialog.tsx')).WeChatDialog,
}))
const TelegramDialog = lazy(async () => ({
  default: (await import('./telegram-dialog.tsx')).TelegramDialog,
}))

/** The login methods that open a dialog. All others open a page of another site. */
export type Messenger = 'wechat' | 'telegram'

/** The dialog for WeChat or Telegram. Its script is loaded when the dialog is first opened. */
export function MessengerDialog(props: {
  method: Messenger
  act: 'login' | 'bind'
  title: string
  submitText: string
  /**
   * Called with the code that the user got from WeChat. It throws if the server rejects the code.
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

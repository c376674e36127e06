import { lazy, Suspense } from 'react'
import { useStatus } from '#console/api/status.ts'

const WeChatDialog = lazy(async () => ({
  default: (await import('./wechat-dialog.tsx')).WeChatDialog,
}))
const TelegramDialog = lazy(async () => ({
  default: (await import('./telegram-dialog.tsx')).TelegramDialog,
}))

/** The login methods that open a dialog instead of redirecting. */
export type Messenger = 'wechat' | 'telegram'

/** The code of the WeChat or Telegram dialog loads when the dialog first opens. */
export function MessengerDialog(props: {
  method: Messenger
  act: 'login' | 'bind'
  title: string
  submitText: string
  /** Receives the code that WeChat sent. Throws if the server refuses the code. */
  onCode: (code: string) => Promise<void>
  /** Returns the OAuth state, which Telegram's response must contain. */
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

import { lazy, type ReactElement, Suspense } from 'react'
import { useStatus } from '#console/api/status.ts'

const WeChatDialog = lazy(async () => ({
  default: (await import('./wechat-dialog.tsx')).WeChatDialog,
}))
const TelegramDialog = lazy(async () => ({
  default: (await import('./telegram-dialog.tsx')).TelegramDialog,
}))

/** The ways in that are no trip to another site and back. */
export type Messenger = 'wechat' | 'telegram'

/** WeChat's code or Telegram's button, as this site has them; fetched when first opened. */
export function MessengerDialog(props: {
  way: Messenger
  act: 'login' | 'bind'
  title: string
  submitText: string
  /** With WeChat's code; throws when refused. */
  onCode: (code: string) => Promise<void>
  /** What Telegram's answer comes back with. */
  getState: () => Promise<string>
  onClose: () => void
}): ReactElement {
  const status = useStatus()
  const { way, title, onClose } = props
  return (
    <Suspense fallback={null}>
      {way === 'wechat' ? (
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

export const isMessenger = (way: string): way is Messenger => way === 'wechat' || way === 'telegram'

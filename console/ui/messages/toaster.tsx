import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../elements/copy-to-clipboard.tsx'
import { Icon, type IconName } from '../elements/icons.tsx'
import { dismissToast, type Toast, useToasts } from './toast.ts'

const ICONS: Record<Toast['tone'], IconName> = {
  success: 'check',
  error: 'alert',
  warning: 'alert',
  info: 'info',
}

export function Toaster() {
  const toasts = useToasts()
  return (
    <div className="tg-toaster" aria-live="polite" aria-relevant="additions">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastCard({ toast }: { toast: Toast }) {
  const { t } = useTranslation()
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => dismissToast(toast.id), toast.stayMs)
    return () => clearTimeout(timer)
  }, [isHeld, toast])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only stops the timer
    <div
      className={`tg-toast tg-toast-${toast.tone}`}
      role={toast.tone === 'error' || toast.tone === 'warning' ? 'alert' : 'status'}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={ICONS[toast.tone]} />
      <div className="tg-toast-text">
        <p>
          {toast.message}
          {toast.count > 1 && <span className="tg-toast-count">×{toast.count}</span>}
        </p>
        {toast.detail !== '' && <p className="tg-hint">{toast.detail}</p>}
        {toast.requestId !== '' && (
          <p className="tg-toast-request">
            <span>{t('request.requestId')}</span> <code>{toast.requestId}</code>
            <CopyButton text={toast.requestId} label={t('ui.copy')} />
          </p>
        )}
      </div>
      {toast.action !== null && <ToastAction toast={toast} action={toast.action} />}
      <button
        type="button"
        className="tg-toast-close"
        aria-label={t('ui.dismiss')}
        onClick={() => dismissToast(toast.id)}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}

function ToastAction(props: { toast: Toast; action: NonNullable<Toast['action']> }) {
  const perform = () => {
    dismissToast(props.toast.id)
    props.action.onClick()
  }
  return (
    <button type="button" className="tg-toast-action" onClick={perform}>
      {props.action.text}
    </button>
  )
}

import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '#console/ui/empty-state.tsx'

const RELOADED = 'chat-reloaded'

/**
 * Another site's page. It may run scripts of its own and keep what is its own, and learns nothing
 * of ours but the address that it is given.
 */
export function ChatFrame({ name, address }: { name: string; address: string }): ReactElement {
  const { t } = useTranslation()
  const isBlocked = useIsBlocked(address)
  if (isBlocked) {
    return <EmptyState icon="alert" title={t('chat.blocked')} body={t('chat.blockedLead')} />
  }
  return (
    <iframe
      className="tg-chat-frame"
      title={name}
      src={address}
      sandbox="allow-scripts allow-forms allow-popups allow-same-origin"
      referrerPolicy="no-referrer"
    />
  )
}

/**
 * A page's policy is that of when it was loaded: a client that was added since is let in by loading
 * the page anew, once.
 */
function useIsBlocked(address: string): boolean {
  const [isBlocked, setBlocked] = useState(false)
  useEffect(() => {
    const { origin } = new URL(address)
    const onViolation = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      if (effectiveDirective !== 'frame-src' || !blockedURI.startsWith(origin)) return
      if (sessionStorage.getItem(RELOADED) === origin) return setBlocked(true)
      sessionStorage.setItem(RELOADED, origin)
      window.location.reload()
    }
    document.addEventListener('securitypolicyviolation', onViolation)
    return () => document.removeEventListener('securitypolicyviolation', onViolation)
  }, [address])
  return isBlocked
}

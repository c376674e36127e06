import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect, useState, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { currentHealth, type Health, onHealth } from '#console/api/health.ts'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icons.tsx'

/** One line for as long as calls get no answer, in place of a storm of toasts. */
export function HealthBanner(): ReactElement | null {
  const { t } = useTranslation()
  const client = useQueryClient()
  const health = useSyncExternalStore(onHealth, currentHealth)
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine)
  const kind = isOnline ? health.kind : 'offline'
  const seconds = useSecondsLeft(health)
  const retry = () => void client.refetchQueries({ type: 'active' })
  return (
    <div role="status" className="tg-health">
      {kind === 'fine' ? null : (
        <p className="tg-alert">
          <Icon name="alert" />
          <span>{t(`request.health.${kind}`)}</span>
          {seconds > 0 && kind === 'busy' ? (
            <span>{t('request.retryIn', { seconds })}</span>
          ) : (
            kind !== 'offline' && (
              <Button tone="quiet" size="small" icon="refresh" onClick={retry}>
                {t('ui.retry')}
              </Button>
            )
          )}
        </p>
      )}
    </div>
  )
}

/** Whole seconds that the server still asks to wait, counted down. */
function useSecondsLeft(health: Health): number {
  const until = health.kind === 'busy' ? (health.until ?? 0) : 0
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until === 0) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [until])
  return Math.max(0, Math.ceil((until - now) / 1000))
}

function onNetwork(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

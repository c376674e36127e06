import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useRouteError } from 'react-router-dom'
import { Button } from '#console/ui/elements/button.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'

/** Replaces a page whose rendering threw an error. */
export function CrashPage() {
  const { t } = useTranslation()
  const error = useRouteError()
  usePageTitle(t('ui.crashed'))
  useEffect(() => console.error(error), [error])
  return (
    <div className="tg-message-page">
      <h1>{t('ui.crashed')}</h1>
      <p className="tg-muted">{t('ui.crashedBody')}</p>
      <Button tone="primary" icon="refresh" onClick={() => window.location.reload()}>
        {t('ui.reload')}
      </Button>
    </div>
  )
}

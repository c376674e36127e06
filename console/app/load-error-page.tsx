import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'

const RETRY_EVERY_MS = 3_000
const RELOAD_EVERY_MS = 30_000
/** Set in session storage after a retry has reloaded the document. */
const RELOADED_KEY = 'lost-page-reloaded'

/** Replaces a page whose script failed to load. Browsers retry a script only after a reload. */
export function LostPage({ file }: { file: string }) {
  const { t } = useTranslation()
  usePageTitle(t('ui.lost'))
  useRetries(file)
  return (
    <div className="tg-page">
      <h1 className="tg-visually-hidden">{t('ui.lost')}</h1>
      <Panel>
        <div role="alert">
          <EmptyState
            icon="alert"
            title={t('ui.lost')}
            body={t('ui.lostBody')}
            action={
              <Button icon="refresh" onClick={() => void reloadIfAnswered('/')}>
                {t('ui.retry')}
              </Button>
            }
          />
        </div>
      </Panel>
    </div>
  )
}

/** Retries when the browser is online again, and every 3 s, because an outage may end unnoticed. */
function useRetries(file: string): void {
  useEffect(() => {
    const retry = () => {
      // After the first reload, a retry waits for 30 s, so that a broken script causes no loop.
      const isFirst = sessionStorage.getItem(RELOADED_KEY) === null
      if (isFirst || performance.now() > RELOAD_EVERY_MS) void reloadIfAnswered(file)
    }
    retry()
    const timer = setInterval(() => {
      if (!document.hidden) retry()
    }, RETRY_EVERY_MS)
    window.addEventListener('online', retry)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', retry)
    }
  }, [file])
}

/** Reloads if the server responds. A failed reload would leave only the browser's error page. */
async function reloadIfAnswered(file: string): Promise<void> {
  const answer = await fetch(file, { cache: 'no-store' }).catch(() => null)
  if (answer?.ok !== true) return
  sessionStorage.setItem(RELOADED_KEY, 'yes')
  window.location.reload()
}

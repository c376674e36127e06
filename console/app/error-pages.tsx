import { type ComponentType, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useRouteError } from 'react-router-dom'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'

const RETRY_INTERVAL_MS = 3_000
const RELOAD_INTERVAL_MIN_MS = 30_000
/** The key in the session storage for the time of the last reload, in Unix milliseconds. */
const RELOADED_KEY = 'lost-page-reloaded'

/**
 * The page that is shown if a script of the console could not be loaded. It offers to reload,
 * because browsers do not load a failed script again on the same page.
 */
function LoadErrorPage({ file }: { file: string }) {
  const { t } = useTranslation()
  usePageTitle(t('ui.pageLoadFailed'))
  useRetries(file)
  return (
    <div className="tg-page">
      <h1 className="tg-visually-hidden">{t('ui.pageLoadFailed')}</h1>
      <Panel>
        <div role="alert">
          <EmptyState
            icon="alert"
            title={t('ui.pageLoadFailed')}
            body={t('ui.pageLoadFailedBody')}
            action={
              <Button icon="refresh" onClick={() => void reloadIfReachable('/')}>
                {t('ui.retry')}
              </Button>
            }
          />
        </div>
      </Panel>
    </div>
  )
}

/**
 * Tries to reload the page at once, when the browser is online again, and at intervals while the
 * page is visible. If this tab was reloaded in the last 30 s, the next reload waits until they have
 * passed. The intervals are necessary, because browsers do not always report
 * that they are online.
 */
function useRetries(file: string): void {
  useEffect(() => {
    const retry = () => {
      // A broken script must not cause a fast loop of reloads. The clock may have been set back, so
      // the time since this page was opened counts as well.
      const sinceReload = Date.now() - Number(sessionStorage.getItem(RELOADED_KEY))
      const isRecent = sinceReload < RELOAD_INTERVAL_MIN_MS
      if (!isRecent || performance.now() > RELOAD_INTERVAL_MIN_MS) void reloadIfReachable(file)
    }
    retry()
    const timer = setInterval(() => {
      if (!document.hidden) retry()
    }, RETRY_INTERVAL_MS)
    window.addEventListener('online', retry)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', retry)
    }
  }, [file])
}

/**
 * Reloads the page if `file` can be fetched. Without a connection, a reload would show the
 * browser's own error page.
 */
async function reloadIfReachable(file: string): Promise<void> {
  const answer = await fetch(file, { cache: 'no-store' }).catch(() => null)
  if (answer?.ok !== true) return
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()))
  window.location.reload()
}

/**
 * Loads the component of a page. If loading fails, returns an error page instead, because React
 * would show nothing for a rejected `lazy` function.
 */
export async function loadPage(
  load: () => Promise<ComponentType>,
): Promise<{ Component: ComponentType }> {
  try {
    return { Component: await load() }
  } catch (error) {
    const file = fileOf(error)
    return { Component: () => <LoadErrorPage file={file} /> }
  }
}

function fileOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? '/'
}

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

export function NotFoundPage() {
  const { t } = useTranslation()
  usePageTitle(t('shell.notFoundTitle'))
  return (
    <div className="tg-message-page">
      <p className="tg-message-code" aria-hidden="true">
        404
      </p>
      <h1>{t('shell.notFound')}</h1>
      <Link className="tg-link-button" to="/">
        {t('shell.backHome')}
      </Link>
    </div>
  )
}

import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTranslations } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

type Details = typeof import('./log-details.tsx')

let loadedDetails: Details | null = null
let detailsPromise: Promise<Details> | null = null

export function prefetchDetails(): void {
  fetchDetails().catch(() => undefined)
}

function fetchDetails(): Promise<Details> {
  detailsPromise ??= Promise.all([
    import('./log-details.tsx'),
    loadTranslations('logDetails'),
  ]).then(
    ([details]) => {
      loadedDetails = details
      return details
    },
    (error: unknown) => {
      detailsPromise = null
      throw error
    },
  )
  return detailsPromise
}

/**
 * Shows the details of a row. The details are loaded as a separate script. `React.lazy` is not
 * used, because it shows its fallback for a moment even if the script is already loaded.
 */
export function LazyLogDetails(props: { row: LogEntry; isAdmin: boolean }) {
  const [details, setDetails] = useState(loadedDetails)
  const [hasLoadFailed, setLoadFailed] = useState(false)
  useEffect(() => {
    if (details === null) fetchDetails().then(setDetails, () => setLoadFailed(true))
  }, [details])
  if (details !== null) return <details.LogDetails {...props} />
  return hasLoadFailed ? <DetailsLoadError /> : <Waiting />
}

function Waiting() {
  return (
    <div className="tg-log-details tg-log-details-wait" aria-busy="true">
      <Skeleton width={70} />
      <Skeleton width={50} />
    </div>
  )
}

/**
 * Asks the user to reload the page, because browsers request a failed script again only after the
 * page has been reloaded.
 */
function DetailsLoadError() {
  const { t } = useTranslation()
  return (
    <div role="alert">
      <EmptyState
        icon="alert"
        title={t('usageLog.detailsFailed')}
        action={
          <Button icon="refresh" onClick={() => window.location.reload()}>
            {t('ui.reload')}
          </Button>
        }
      />
    </div>
  )
}

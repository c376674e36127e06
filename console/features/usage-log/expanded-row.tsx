import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTranslations } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

type Details = typeof import('./log-details.tsx')

let fetched: Details | null = null
let fetching: Promise<Details> | null = null

/** Loads the component and the texts of row details in advance. Only the first call loads them. */
export function prefetchDetails(): void {
  fetchDetails().catch(() => undefined)
}

function fetchDetails(): Promise<Details> {
  fetching ??= Promise.all([import('./log-details.tsx'), loadTranslations('logDetails')]).then(
    ([details]) => {
      fetched = details
      return details
    },
    (error: unknown) => {
      fetching = null
      throw error
    },
  )
  return fetching
}

/**
 * Shows the details of a row. The details are a separate chunk. The loaded component is kept in
 * state, because `React.lazy` would always show its fallback first and move the rows below.
 */
export function ExpandedRow(props: { row: LogEntry; isAdmin: boolean }) {
  const [details, setDetails] = useState(fetched)
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    if (details === null) fetchDetails().then(setDetails, () => setLost(true))
  }, [details])
  if (details !== null) return <details.LogDetails {...props} />
  return isLost ? <Lost /> : <Waiting />
}

function Waiting() {
  return (
    <div className="tg-log-details tg-log-details-wait" aria-busy="true">
      <Skeleton width={70} />
      <Skeleton width={50} />
    </div>
  )
}

/** Asks the user to reload the page, because browsers retry a failed script only after a reload. */
function Lost() {
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

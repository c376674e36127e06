import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { Button } from '#console/ui/elements/button.tsx'
import { EmptyState, ErrorState } from '#console/ui/layout/empty-state.tsx'
import { relativeRange } from '#console/ui/time-range/time-range.ts'
import { DEFAULT_RANGE, filterCount, type LogFilters } from './log-url-params.ts'
import type { LogView } from './use-log-view.ts'

export function EmptyLog(props: { view: LogView; error: Error | null; onRetry: () => void }) {
  const { t } = useTranslation()
  const { filters, setFilters, clearFilters } = props.view
  if (props.error !== null) return <ErrorState error={props.error} onRetry={props.onRetry} />
  const count = filterCount(filters)
  if (filters.request !== '') {
    return (
      <EmptyState
        icon="search"
        title={t('usageLog.noRequest')}
        body={t(props.view.isAdmin ? 'usageLog.noRequestBody' : 'usageLog.noRequestUserBody')}
        action={<Button onClick={clearFilters}>{t('usageLog.clear', { count })}</Button>}
      />
    )
  }
  const isRangeOnly = count === 1 && filters.range !== DEFAULT_RANGE
  const showAll = (
    <Button onClick={() => setFilters({ range: relativeRange('all') })}>
      {t('shared.showAllTime')}
    </Button>
  )
  if (count === 0) {
    return (
      <EmptyState
        title={t('usageLog.empty')}
        body={t('usageLog.emptyBody')}
        action={
          <>
            {showAll}
            <Link to="/app/tokens">{t('usageLog.toTokens')}</Link>
          </>
        }
      />
    )
  }
  if (isRangeOnly) {
    const isAll = filters.range.kind === 'relative' && filters.range.span === 'all'
    return (
      <EmptyState
        icon="clock"
        title={t('usageLog.emptyRange')}
        body={isAll ? t('usageLog.emptyBody') : t('usageLog.emptyRangeBody')}
        action={isAll ? undefined : showAll}
      />
    )
  }
  return <EmptyFiltered view={props.view} />
}

function EmptyFiltered({ view }: { view: LogView }) {
  const { t } = useTranslation()
  const { filters, setFilters, clearFilters } = view
  const { type, channel } = filters
  const isRetried = type === TYPE_ERROR && channel > 0
  const showAttempts = () => setFilters({ type: 0, channel: 0, failed_channel: channel })
  return (
    <EmptyState
      icon="filter"
      title={t('usageLog.emptyFiltered')}
      body={t(isRetried ? 'usageLog.emptyRetriedBody' : bodyOf(filters))}
      action={
        <>
          {isRetried && <Button onClick={showAttempts}>{t('usageLog.showFailedAttempts')}</Button>}
          <Button onClick={clearFilters}>
            {t('usageLog.clear', { count: filterCount(filters) })}
          </Button>
        </>
      }
    />
  )
}

const TYPE_ERROR = 6

function bodyOf({ model, token, username }: LogFilters) {
  if (`${model}${token}${username}` !== '') return 'usageLog.emptyExactBody' as const
  return 'usageLog.emptyFilteredBody' as const
}

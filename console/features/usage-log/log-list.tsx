import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import type { DataGridHandle } from '#console/ui/data-grid/grid-props-and-row-heights.ts'
import type { ColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Pagination } from '#console/ui/lists/pagination.tsx'
import { relativeRange } from '#console/ui/time-range/time-range.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { LazyLogDetails, prefetchDetails } from './lazy-log-details.tsx'
import { type LiveRows, releaseRows } from './live-rows.ts'
import { ERROR } from './log-type.ts'
import { DEFAULT_RANGE, filterCount, type LogFilters } from './log-url-params.ts'
import type { ReadingState, useLogRows } from './use-log-rows.ts'
import type { LogView } from './use-log-view.ts'

type Props = {
  view: LogView
  log: ReturnType<typeof useLogRows>
  layout: ColumnLayout<LogEntry>
  reading: ReadingState
}

export const LOG_DENSITY = 'compact'

const rowKey = (row: LogEntry): string => String(row.id)

/**
 * Shows the rows of the usage log. While the user reads the list, new rows are not inserted.
 * Instead, a button shows how many new rows are waiting.
 */
export function LogList({ view, log, layout, reading }: Props) {
  const { t } = useTranslation()
  const grid = useRef<DataGridHandle>(null)
  const { page, live, rows } = log
  const total = (page.data?.total ?? 0) + rows.length - (page.data?.items.length ?? 0)
  // If a request id matches a single call, the row of the call is expanded.
  const isOnlyMatch = view.filters.request !== '' && rows.length === 1 && !page.isPlaceholderData
  const matchKey = isOnlyMatch ? rows.map(rowKey)[0] : undefined
  useEffect(() => {
    if (reading.isReading) prefetchDetails()
  }, [reading.isReading])
  const showNew = (): void => {
    if (live.isIncomplete) log.refetch(null)
    else log.update(releaseRows)
    grid.current?.scrollToTop()
  }
  return (
    <div className="tg-log-list">
      <NewRows live={live} onShow={showNew} />
      <Panel isFlush>
        <h2 className="tg-visually-hidden">{t('usageLog.title')}</h2>
        <div {...reading.listeners} onPointerDown={prefetchDetails}>
          <DataGrid
            label={t('usageLog.title')}
            rows={rows}
            rowKey={rowKey}
            layout={layout}
            isFirstSticky
            sort={view.sort}
            onSort={view.setSort}
            density={LOG_DENSITY}
            total={total}
            firstIndex={view.page * view.pageSize}
            isLoading={page.isPending}
            isRefetching={page.isPlaceholderData}
            isMuted={(row) => row.type === ERROR}
            isFresh={(row) => row.id > live.highlightAboveId}
            expand={(row) => <LazyLogDetails row={row} isAdmin={view.isAdmin} />}
            openKey={matchKey}
            onAtTop={reading.onAtTop}
            gridRef={grid}
            empty={<EmptyLog view={view} error={page.error} onRetry={() => void page.refetch()} />}
          />
        </div>
        <Pagination
          page={view.page}
          pageSize={view.pageSize}
          total={total}
          onPage={view.setPage}
          onPageSize={view.setPageSize}
        />
      </Panel>
    </div>
  )
}

function NewRows(props: { live: LiveRows; onShow: () => void }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { pending, isIncomplete, dropped } = props.live
  if (pending.length === 0 && !isIncomplete) return null
  const waiting = pending.length + dropped
  const count = number.format(waiting)
  // If the live stream was interrupted, the number of missed rows is unknown.
  const isUncounted = isIncomplete && dropped === 0
  return (
    <button type="button" className="tg-log-new" onClick={props.onShow}>
      <Icon name="arrowUp" size={14} />
      {waiting === 0
        ? t('usageLog.showNewRows')
        : t('usageLog.newRows', { text: isUncounted ? `${count}+` : count })}
    </button>
  )
}

function EmptyLog(props: { view: LogView; error: Error | null; onRetry: () => void }) {
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

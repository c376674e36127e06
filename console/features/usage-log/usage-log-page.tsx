import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { ActionButton } from '#console/ui/elements/button.tsx'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { LiveIndicator } from '#console/ui/elements/live-indicator.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { ColumnChooser } from '#console/ui/lists/column-chooser.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { zoneName } from '#console/ui/time-range/time-range.ts'
import { CallChart } from './call-chart.tsx'
import { COLUMN_LAYOUT_KEY, useLogColumns } from './log-columns.tsx'
import { LogFilterBar } from './log-filters.tsx'
import { LOG_DENSITY, LogList } from './log-list.tsx'
import { LogPageActions } from './log-page-actions.tsx'
import { LogSummary } from './log-summary.tsx'
import { linkTo, urlColumnLayout } from './log-url-params.ts'
import { SavedViewsButton } from './saved-views-button.tsx'
import { useExport } from './use-export.ts'
import { useIsReading, useLogRows } from './use-log-rows.ts'
import { useLogView } from './use-log-view.ts'
import './usage-log.css'

export function UsageLogPage() {
  const { t } = useTranslation()
  const view = useLogView()
  const reading = useIsReading()
  const [isPaused, setPaused] = useState(false)
  const log = useLogRows(view, isPaused || reading.isReading)
  const columns = useLogColumns(view.isAdmin, view.setFilters)
  const remembered = useColumnLayout(COLUMN_LAYOUT_KEY, columns)
  const layout = urlColumnLayout(remembered, view.columns, view.forgetColumns)
  const exporting = useExport(view)
  const refresh = (): void => log.refetch(null)
  const hrefNow = (): string => {
    const columns = layout.visible.map(({ id }) => id)
    return linkTo(location.href, { pageSize: view.pageSize, columns })
  }
  /**
   * Copies a link that includes the page size and the columns, which are otherwise stored only in
   * this browser.
   */
  const copyLink = async (): Promise<void> => {
    if (await copyText(hrefNow())) showSuccess(t('usageLog.linkCopied'))
  }
  const { range } = view.filters
  const status = (
    <LiveStatus
      isPaused={isPaused}
      isHeld={reading.isReading}
      isPast={view.page > 0 || (range.kind === 'absolute' && range.to * 1000 < Date.now())}
      onPause={setPaused}
    />
  )
  return (
    <Page
      title={t('shell.usageLog')}
      lead={t('usageLog.lead', { zone: zoneName() })}
      actions={
        <>
          {status}
          <LogPageActions
            exporting={exporting}
            onRefresh={refresh}
            onCopyLink={() => void copyLink()}
          >
            <SavedViewsButton hrefNow={hrefNow} />
            <ColumnChooser layout={layout} density={LOG_DENSITY} />
          </LogPageActions>
        </>
      }
    >
      <div className="tg-log-strip">
        <LogSummary stat={log.stat.data} type={view.filters.type} />
        <CallChart view={view} />
      </div>
      <LogFilterBar view={view} />
      <LogList view={view} log={log} layout={layout} reading={reading} />
    </Page>
  )
}

type LiveStatusProps = {
  isPaused: boolean
  /** True while the list is scrolled, hovered or focused. New rows are then not inserted. */
  isHeld: boolean
  /**
   * True if the list can't get new rows, because its time range has ended or the page is not the
   * first one.
   */
  isPast: boolean
  onPause: (isPaused: boolean) => void
}

function LiveStatus({ isPaused, isHeld, isPast, onPause }: LiveStatusProps) {
  const { t } = useTranslation()
  const kind = isPast ? 'past' : isPaused ? 'paused' : isHeld ? 'reading' : 'live'
  const pause = {
    id: 'log-pause',
    title: isPaused ? t('usageLog.resume') : t('usageLog.pause'),
    keys: 'p',
    icon: isPaused ? 'play' : 'pause',
    perform: () => onPause(!isPaused),
  } as const
  useRegisterActions([pause])
  return (
    <div className="tg-log-live">
      <LiveIndicator kind={kind}>
        <ActionButton tone="quiet" action={pause} isPressed={isPaused} />
      </LiveIndicator>
    </div>
  )
}

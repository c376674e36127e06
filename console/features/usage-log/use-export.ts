import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { listLogs } from '#console/api/logs/list-logs.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { dollarText, exactQuotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { csvColumns } from './csv-columns.ts'
import { EXPORT_PAGE_SIZE, exportLog, saveAsFile } from './export-log.ts'
import { logParams } from './log-params.ts'
import { rangeText, zoneName } from './time-range.ts'
import type { LogView } from './use-log-view.ts'

export type ExportState = {
  /** Null while nothing is exported. */
  readonly progress: { readonly done: number; readonly total: number } | null
  readonly start: () => void
  readonly cancel: () => void
}

/** Exports everything the filters let through, page by page; can be cancelled on the way. */
export function useExport(view: LogView): ExportState {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const [progress, setProgress] = useState<ExportState['progress']>(null)
  const running = useRef<AbortController | null>(null)
  const run = async (signal: AbortSignal): Promise<void> => {
    const params = logParams(view.filters, Math.floor(Date.now() / 1000))
    const scope = view.isAdmin ? 'all' : 'self'
    const { parts, totals } = await exportLog({
      readPage: (page) => listLogs({ scope, params, page, pageSize: EXPORT_PAGE_SIZE, signal }),
      columns: csvColumns({
        isAdmin: view.isAdmin,
        zone: zoneName(),
        dollars: (quota) => dollarText(quota, rule, 6).replace(/[$,]/g, ''),
      }),
      withByteOrderMark: currentLanguage() === 'zh',
      onProgress: (done, total) => setProgress({ done, total }),
    })
    saveAsFile(parts, `usage-${rangeText(view.filters.range)}.csv`)
    const cost = exactQuotaText(totals.quota, rule)
    showSuccess(t('usageLog.exported', { rows: totals.rows, cost, quota: String(totals.quota) }))
  }
  return {
    progress,
    cancel: () => running.current?.abort(),
    start: () => {
      const controller = new AbortController()
      running.current = controller
      setProgress({ done: 0, total: 0 })
      run(controller.signal)
        .catch((error: unknown) => {
          if (!controller.signal.aborted) showError(error)
        })
        .finally(() => setProgress(null))
    },
  }
}

import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { listLogs } from '#console/api/logs/list-logs.ts'
import { currentLanguage } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { dollarText, exactQuotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { showError, showInfo, showSuccess } from '#console/ui/toast.ts'
import { csvColumns } from './csv-columns.ts'
import { EXPORT_PAGE_SIZE, EXPORT_ROWS_MAX, exportLog, saveAsFile } from './export-log.ts'
import { logParams } from './log-params.ts'
import { csvFormat, NDJSON, type RowFormat } from './row-format.ts'
import { rangeText, zoneName } from './time-range.ts'
import type { LogView } from './use-log-view.ts'

export type ExportKind = 'csv' | 'ndjson'

export type ExportState = {
  /** Null while nothing is exported. */
  readonly progress: { readonly done: number; readonly total: number } | null
  readonly start: (kind: ExportKind) => void
  readonly cancel: () => void
}

/** Exports everything the filters let through, page by page; can be cancelled on the way. */
export function useExport(view: LogView): ExportState {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const [progress, setProgress] = useState<ExportState['progress']>(null)
  const running = useRef<AbortController | null>(null)
  const formatOf = (kind: ExportKind): RowFormat => {
    if (kind === 'ndjson') return NDJSON
    const dollars = (quota: bigint): string => dollarText(quota, rule, 6).replace(/[$,]/g, '')
    const columns = csvColumns({ isAdmin: view.isAdmin, zone: zoneName(), dollars })
    return csvFormat(columns, currentLanguage() === 'zh')
  }
  const run = async (format: RowFormat, signal: AbortSignal): Promise<void> => {
    const params = logParams(view.filters, Math.floor(Date.now() / 1000))
    const scope = view.isAdmin ? 'all' : 'self'
    const { parts, totals, isCut } = await exportLog({
      readPage: (page) => listLogs({ scope, params, page, pageSize: EXPORT_PAGE_SIZE, signal }),
      format,
      onProgress: (done, total) => setProgress({ done, total }),
    })
    saveAsFile(parts, `usage-${rangeText(view.filters.range)}.${format.extension}`, format.type)
    const cost = exactQuotaText(totals.quota, rule)
    showSuccess(t('usageLog.exported', { rows: totals.rows, cost, quota: String(totals.quota) }))
    if (isCut) showInfo(t('usageLog.exportCut', { max: number.format(EXPORT_ROWS_MAX) }))
  }
  return {
    progress,
    cancel: () => running.current?.abort(),
    start: (kind) => {
      const controller = new AbortController()
      running.current = controller
      setProgress({ done: 0, total: 0 })
      run(formatOf(kind), controller.signal)
        .catch((error: unknown) => {
          if (!controller.signal.aborted) showError(error)
        })
        .finally(() => setProgress(null))
    },
  }
}

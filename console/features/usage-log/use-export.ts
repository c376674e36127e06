import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { type ExportKind, exportLogs } from '#console/api/usage-log-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { saveFile } from '#console/ui/browser/save-file.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import { rangeText, zoneName } from '#console/ui/time-range/time-range.ts'
import { type ExportColumn, exportColumns } from '#read-api/contract/log-export-columns.ts'
import { logParams } from './log-url-params.ts'
import type { LogView } from './use-log-view.ts'

export type ExportState = ReturnType<typeof useExport>

const TYPES: Record<ExportKind, string> = {
  csv: 'text/csv;charset=utf-8',
  ndjson: 'application/x-ndjson;charset=utf-8',
}
const PROGRESS_INTERVAL_MS = 200

export function useExport(view: LogView) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const [rows, setRows] = useState<number | null>(null)
  const columns = useExportColumns(view.isAdmin)
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const running = useRef<AbortController | null>(null)
  const run = async (
    kind: ExportKind,
    selected: readonly ExportColumn[],
    signal: AbortSignal,
  ): Promise<void> => {
    const params = logParams(view.filters, currentSeconds())
    const scope = view.isAdmin ? 'all' : 'self'
    const isWhole = kind !== 'csv' || selected.length === columns.all.length
    const exportRequest = { scope, params, kind, zone: zoneName(), signal } as const
    const stream = await exportLogs({ ...exportRequest, columns: isWhole ? null : selected })
    const counter = new ExportRowCounter(kind)
    const counted = stream.pipeThrough(countRows(counter, setRows))
    const headers = { 'Content-Type': TYPES[kind] }
    const file = await new Response(counted, { headers }).blob().catch(() => {
      throw new Error(t('usageLog.exportBroken'))
    })
    saveFile(file, `usage-${rangeText(view.filters.range)}.${kind}`)
    const { rows: count } = counter
    showSuccess(t('usageLog.exported', { count, rows: number.format(count) }))
  }
  return {
    /** The number of downloaded rows, or null while no export is running. */
    rows,
    cancel: () => running.current?.abort(),
    columns,
    isDrawerOpen,
    setDrawerOpen,
    start: (kind: ExportKind, selected: readonly ExportColumn[] = columns.selected) => {
      const controller = new AbortController()
      running.current = controller
      setRows(0)
      run(kind, selected, controller.signal)
        .catch((error: unknown) => {
          if (!controller.signal.aborted) showError(error)
        })
        .finally(() => setRows(null))
    },
  }
}

function countRows(
  counter: ExportRowCounter,
  onRows: (rows: number) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let reportedAt = performance.now()
  return new TransformStream({
    transform: (bytes, controller) => {
      counter.add(bytes)
      controller.enqueue(bytes)
      if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return
      reportedAt = performance.now()
      onRows(counter.rows)
    },
  })
}

const EXCLUDED_KEY = 'logs-export-left-out'
const NONE: readonly string[] = []

/**
 * Parses the stored list of columns that the user has excluded from exports. The stored list
 * contains the excluded columns and not the included ones, because columns of later releases must
 * be exported by default.
 */
const readExcluded = (stored: unknown): readonly string[] | null =>
  Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : null

function useExportColumns(isAdmin: boolean) {
  const [leftOut, store] = useLocalPreference(EXCLUDED_KEY, NONE, readExcluded)
  const all = exportColumns(isAdmin)
  const left = all.filter((name) => !leftOut.includes(name))
  return {
    all,
    selected: left.length === 0 ? all : left,
    select: (selected: readonly ExportColumn[]): void =>
      store(all.filter((name) => !selected.includes(name))),
  }
}

const QUOTE = 34
const LINE_END = 10

/**
 * Counts the rows of a CSV or NDJSON file while the file is downloaded. In CSV, a line break inside
 * quotes does not end a row.
 */
export class ExportRowCounter {
  lines = 0
  readonly #hasQuotes: boolean
  #isQuoted = false

  constructor(kind: 'csv' | 'ndjson') {
    this.#hasQuotes = kind === 'csv'
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === LINE_END && !this.#isQuoted) this.lines += 1
      else if (byte === QUOTE && this.#hasQuotes) this.#isQuoted = !this.#isQuoted
    }
  }

  get rows(): number {
    return Math.max(0, this.lines - (this.#hasQuotes ? 1 : 0))
  }
}

import { useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import { type ExportColumn, exportColumns } from '#read-api/contract/export-columns.ts'

const LEFT_OUT_KEY = 'logs-export-left-out'
const NONE: readonly string[] = []

/**
 * Validates the stored column names. The excluded columns are stored, so that exports include
 * columns of later releases.
 */
const readLeftOut = (stored: unknown): readonly string[] | null =>
  Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : null

/** Manages the columns of exports. By default, all columns are exported. */
export function useExportColumns(isAdmin: boolean) {
  const [leftOut, store] = useLocalPreference(LEFT_OUT_KEY, NONE, readLeftOut)
  const all = exportColumns(isAdmin)
  const left = all.filter((name) => !leftOut.includes(name))
  return {
    all,
    chosen: left.length === 0 ? all : left,
    choose: (chosen: readonly ExportColumn[]): void =>
      store(all.filter((name) => !chosen.includes(name))),
  }
}

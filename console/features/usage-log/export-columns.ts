import { useLocalPreference } from '#console/ui/use-local-preference.ts'

const EXPORT_COLUMNS = [
  'id',
  'time',
  'unix_time',
  'type',
  'channel',
  'channel_name',
  'user_id',
  'username',
  'token',
  'group',
  'model',
  'stream',
  'duration_ms',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'quota',
  'cost_usd',
  'amount_usd',
  'provider_cost_usd',
  'end',
  'error',
  'request_id',
  'content',
] as const

/** Of a CSV, by the name that the file gives it, in its order. */
export type ExportColumn = (typeof EXPORT_COLUMNS)[number]

const FOR_ADMINS = /^(?:channel|user|provider)/

const LEFT_OUT_KEY = 'logs-export-left-out'
const NONE: readonly string[] = []

/** What this browser leaves out: so a column that files have newly is in them. */
const readLeftOut = (stored: unknown): readonly string[] | null =>
  Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : null

/** Those that a file can have for this reader. */
const exportColumns = (isAdmin: boolean): readonly ExportColumn[] =>
  EXPORT_COLUMNS.filter((name) => isAdmin || !FOR_ADMINS.test(name))

/** Those that this browser's files have; all, unless some were left out. */
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

/**
 * The columns of a log that is exported as CSV, in order. The column names are the same in every
 * language.
 */
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
export type ExportColumn = (typeof EXPORT_COLUMNS)[number]

const ADMIN_COLUMNS: ReadonlySet<ExportColumn> = new Set<ExportColumn>([
  'channel',
  'channel_name',
  'user_id',
  'username',
  'provider_cost_usd',
])

/** Returns the columns that an exported log may contain. Some columns are only for admins. */
export const exportColumns = (isAdmin: boolean): readonly ExportColumn[] =>
  EXPORT_COLUMNS.filter((name) => isAdmin || !ADMIN_COLUMNS.has(name))

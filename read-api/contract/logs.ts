import Type, { type Static } from 'typebox'
import { Envelope, Query, sortedBy } from './envelope.ts'

export const LogEntry = Type.Object({
  /** Ascending with time; equals the position of the event that created the row. */
  id: Type.Integer(),
  /** Unix seconds. */
  created_at: Type.Integer(),
  /** 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error. */
  type: Type.Integer(),
  request_id: Type.String(),
  /** 0 and empty unless the reader is an admin. */
  channel: Type.Integer(),
  channel_name: Type.String(),
  username: Type.String(),
  user_id: Type.Integer(),
  token_name: Type.String(),
  group: Type.String(),
  model_name: Type.String(),
  /** Whole seconds. */
  use_time: Type.Integer(),
  is_stream: Type.Boolean(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  quota: Type.Integer(),
  content: Type.String(),
  client_ip: Type.String(),
  /** JSON text, see `LogOther`. */
  other: Type.String(),
})
export type LogEntry = Static<typeof LogEntry>

/**
 * The disjoint counts that a charge is computed from; `output` includes `reasoning` and
 * `outputAudio`.
 */
export type LoggedUsage = {
  inputUncached?: number
  cacheRead?: number
  cacheWrite5m?: number
  cacheWrite1h?: number
  inputAudio?: number
  inputImage?: number
  output?: number
  reasoning?: number
  outputAudio?: number
  /** The number of calls, if the price is per call; 1 when absent. */
  calls?: number
}

/**
 * The parsed `other`. Ratios and prices are numbers here; `price` has them as exact decimals in
 * text.
 */
export type LogOther = {
  model_ratio?: number
  model_price?: number
  completion_ratio?: number
  group_ratio?: number
  /** The group ratio if the call used another group than the user's. */
  user_group_ratio?: number
  cache_tokens?: number
  cache_ratio?: number
  cache_creation_tokens?: number
  cache_creation_ratio?: number
  /** For a call with audio: tokens of each kind, and the ratios of audio tokens to text tokens. */
  audio?: boolean
  audio_input?: number
  audio_output?: number
  text_input?: number
  text_output?: number
  audio_ratio?: number
  audio_completion_ratio?: number
  /** Time to the first token in milliseconds. */
  frt?: number
  /** The total duration in milliseconds. */
  duration_ms?: number
  /** Only for admins, also the next field. */
  is_model_mapped?: boolean
  upstream_model_name?: string
  reasoning_tokens?: number
  /** The effort that the caller requested, such as `low` or `high`. */
  reasoning_effort?: string
  /**
   * The output limit that was sent to the provider because the balance or the token's budget could
   * not cover a larger one; tokens of each choice.
   */
  output_limit?: number
  /** The total usage, if only `usage` could be paid. */
  unpaid_usage?: LoggedUsage
  usage_source?: string
  end?: string
  /** For the end `revoked`: the code that the caller received, such as `user_disabled`. */
  end_reason?: string
  /** For a failed call: the provider's message without keys, accounts and addresses. */
  provider_message?: string
  /** The quota held at admission; everything except the charge was released. */
  hold?: number
  anomaly?: string
  /**
   * The price at admission, as the event stores it: decimals as text, also in `list`, so that the
   * quota can be recomputed exactly. `mode` is `tokens` (`model`, `completion`, `cacheRead`,
   * `cacheWrite`, `image`, `audio`, `audioCompletion`, `group`) or `call` (`price`, `group`).
   */
  price?: Record<string, string>
  /** The usage in priced units; counts of 0 may be left out. */
  usage?: LoggedUsage
  error_type?: string
  error_code?: string
  status_code?: number
  channel_id?: number
  /**
   * Only for admins: who changed the balance or group, and the reason. null if none was given,
   * empty once it was erased with the user's texts.
   */
  changed_by?: { id: number; username: string }
  note?: string | null
  /**
   * Only for admins: the provider's charge for the call in quota, and as a multiple of the list
   * price (group ratio 1) in a decimal. Left out if unknown.
   */
  cost?: number
  cost_ratio?: string
  /** Only for admins: every attempt in order. */
  admin_info?: {
    use_channel: number[]
    attempts: { channel: number; status: number | null; error: string | null; ms: number }[]
  }
}

/** `total` is always exact. */
export const LogPage = Type.Object({
  items: Type.Array(LogEntry),
  page: Type.Integer(),
  total: Type.Integer(),
})
export type LogPage = Static<typeof LogPage>

export const LogStat = Type.Object({
  quota: Type.Integer(),
  /** Calls and tokens of the last 60 seconds. */
  rpm: Type.Integer(),
  tpm: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  count: Type.Integer(),
})
export type LogStat = Static<typeof LogStat>

/** The usage of one model in one hour, for the dashboard's chart. */
export const UsagePoint = Type.Object({
  /** Unix seconds of the hour's start. */
  created_at: Type.Integer(),
  model_name: Type.String(),
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
})
export type UsagePoint = Static<typeof UsagePoint>

/** The filters of the log and its totals. All are optional; an empty filter matches everything. */
const LogFilters = {
  type: Type.Optional(Type.String({ pattern: '^[0-6]?$' })),
  token_name: Query.text,
  model_name: Query.text,
  group: Query.text,
  request_id: Query.text,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
}

/** Admins see the rows of all users, and can filter by user and channel. */
const AdminFilters = { ...LogFilters, username: Query.text, channel: Query.integer }

const AllStat = Type.Object(AdminFilters)
export type LogQuery = Static<typeof AllStat>
const OwnStat = Type.Object(LogFilters)

/** The columns that the newest 10 000 rows can be sorted by. */
const LOG_SORTS = [
  'created_at',
  'type',
  'username',
  'token_name',
  'channel',
  'model_name',
  'group',
  'prompt_tokens',
  'completion_tokens',
  'quota',
  'use_time',
] as const

/** `before`: lists rows below this row id, instead of from the start; not for a sorted list. */
const Paging = { ...Query.page, before: Query.integer, ...sortedBy(LOG_SORTS) }
export const AllLogs = Type.Object({ ...Paging, ...AdminFilters })
const OwnLogs = Type.Object({ ...Paging, ...LogFilters })

const FileOptions = {
  format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('ndjson')])),
  /** The IANA time zone of a CSV's times; the default is UTC. */
  zone: Type.Optional(Type.String({ maxLength: 64 })),
  /** Names of the columns of a CSV, comma-separated; the default is all columns. */
  columns: Type.Optional(Type.String({ maxLength: 500 })),
}
const AllRows = Type.Object({ ...AdminFilters, ...FileOptions })
const OwnRows = Type.Object({ ...LogFilters, ...FileOptions })
export type ExportQuery = Static<typeof AllRows>

const FILE = {
  200: {
    description: [
      'A file that is streamed; a failure ends the connection. In a CSV, `cost_usd` is the cost of',
      'a call and adds up to the total of `stat`. `amount_usd` is the amount of any other row,',
      'negative for deductions; `quota` is either of them in quota units.',
    ].join(' '),
    content: {
      'text/csv': { schema: Type.String() },
      'application/x-ndjson': { schema: Type.String() },
    },
  },
}

const logPage = { 200: Envelope(LogPage) }
const logStat = { 200: Envelope(LogStat) }

export const logQueries = {
  'GET /api/log/': { querystring: AllLogs, response: logPage },
  'GET /api/log/self/': { querystring: OwnLogs, response: logPage },
  'GET /api/log/stat': { querystring: AllStat, response: logStat },
  'GET /api/log/self/stat': { querystring: OwnStat, response: logStat },
  'GET /api/log/export': { querystring: AllRows, response: FILE },
  'GET /api/log/self/export': { querystring: OwnRows, response: FILE },
}

import Type, { type Static } from 'typebox'

export const LogEntry = Type.Object({
  /** Grows with time; also the position of the event that made the row. */
  id: Type.Integer(),
  /** Unix seconds. */
  created_at: Type.Integer(),
  /** 1 top-up, 2 consumption, 3 admin, 4 system, 5 check-in, 6 error. */
  type: Type.Integer(),
  request_id: Type.String(),
  /** 0 and empty for anyone but admins. */
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

/** The disjoint counts behind a charge; `output` includes `reasoning` and `outputAudio`. */
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
  /** Calls priced at once, where the price is per call; 1 when absent. */
  calls?: number
}

/** The parsed `other`. Ratios and prices are decimals as text would lose nothing; here numbers. */
export type LogOther = {
  model_ratio?: number
  model_price?: number
  completion_ratio?: number
  group_ratio?: number
  /** The same, where the call went to another group than the user's own. */
  user_group_ratio?: number
  cache_tokens?: number
  cache_ratio?: number
  cache_creation_tokens?: number
  cache_creation_ratio?: number
  /** Of a call with sound: tokens of each kind, and what those of sound cost beside text. */
  audio?: boolean
  audio_input?: number
  audio_output?: number
  text_input?: number
  text_output?: number
  audio_ratio?: number
  audio_completion_ratio?: number
  /** First-token time, milliseconds. */
  frt?: number
  /** Whole duration, milliseconds. */
  duration_ms?: number
  /** Admins only, as is the next. */
  is_model_mapped?: boolean
  upstream_model_name?: string
  reasoning_tokens?: number
  /** `low`, `high`: as the caller asked for it. */
  reasoning_effort?: string
  /**
   * The output limit that was sent to the provider because the balance or the token's budget could
   * not cover a larger one; tokens of each choice.
   */
  output_limit?: number
  /** All that was used, where no more than `usage` could be paid. */
  unpaid_usage?: LoggedUsage
  usage_source?: string
  end?: string
  /** With the end `revoked`, the code that the caller was given: `user_disabled`. */
  end_reason?: string
  /** Of a failed call: the provider's own message, without keys, accounts and addresses. */
  provider_message?: string
  /** What was set aside at admission, in quota; all but the charge went back. */
  hold?: number
  anomaly?: string
  /**
   * The price in force at admission, as the event keeps it: decimals as text, `list` too, so that
   * the quota can be explained to the unit. `mode` is `tokens` (`model`, `completion`, `cacheRead`,
   * `cacheWrite`, `image`, `audio`, `audioCompletion`, `group`) or `call` (`price`, `group`).
   */
  price?: Record<string, string>
  /** What was counted, in the units that are priced; a count that is 0 may be left out. */
  usage?: LoggedUsage
  error_type?: string
  error_code?: string
  status_code?: number
  channel_id?: number
  /**
   * Admins only: who changed balance or group by hand, and the reason given: null where none was,
   * empty once it was erased with the user's texts.
   */
  changed_by?: { id: number; username: string }
  note?: string | null
  /**
   * Admins only: what the provider asks for the call in quota, and as a multiple of the list price
   * (group ratio 1), a decimal. Left out where it is not known.
   */
  cost?: number
  cost_ratio?: string
  /** Admins only: each try, in order. */
  admin_info?: {
    use_channel: number[]
    attempts: { channel: number; status: number | null; error: string | null; ms: number }[]
  }
}

/** `total` is exact, however many there are. */
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

/** One hour of one model, for the dashboard's chart. */
export const UsagePoint = Type.Object({
  /** Unix seconds of the hour's start. */
  created_at: Type.Integer(),
  model_name: Type.String(),
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
})
export type UsagePoint = Static<typeof UsagePoint>

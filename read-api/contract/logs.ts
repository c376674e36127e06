import Type, { type Static } from 'typebox'
import { Query, sortedBy } from './request-parameters.ts'
import type { Fields } from './resource-field-definition.ts'
import { Envelope } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

/** The fields of a log row, in the order of the responses. */
export const LOG_FIELDS = {
  /** The position of the event that created the row. Newer rows have higher ids. */
  id: { wire: 'id', type: 'integer', access: 'read' },
  /** The time at which the row was recorded, in Unix seconds. */
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
  /** 1 is a top-up, 2 consumption, 3 an admin's action, 4 system, 5 a check-in, 6 an error. */
  type: { wire: 'type', type: 'code', values: [1, 2, 3, 4, 5, 6], access: 'read' },
  requestId: { wire: 'request_id', type: 'text', access: 'read' },
  /**
   * The channel of the call. In responses to users who are not admins, all channel fields are 0 or
   * empty.
   */
  channelId: { wire: 'channel', type: 'integer', access: 'read' },
  channelName: { wire: 'channel_name', type: 'text', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  tokenName: { wire: 'token_name', type: 'text', access: 'read' },
  group: { wire: 'group', type: 'text', access: 'read' },
  model: { wire: 'model_name', type: 'text', access: 'read' },
  /** The duration of the call in whole seconds. */
  useTime: { wire: 'use_time', type: 'integer', access: 'read', isComputed: true },
  isStream: { wire: 'is_stream', type: 'flag', access: 'read' },
  promptTokens: { wire: 'prompt_tokens', type: 'integer', access: 'read' },
  completionTokens: { wire: 'completion_tokens', type: 'integer', access: 'read' },
  quota: { wire: 'quota', type: 'integer', access: 'read' },
  content: { wire: 'content', type: 'text', access: 'read', isComputed: true },
  clientIp: { wire: 'client_ip', type: 'encryptedText', access: 'read' },
  /** More details as JSON text (see `LogOther`). */
  other: { wire: 'other', type: 'text', access: 'read' },
} as const satisfies Fields

export const LogEntry = Type.Object(responseProperties(LOG_FIELDS))
export type LogEntry = Static<typeof LogEntry>

/**
 * The usage from which a charge is computed. Each model token is counted in exactly one field, with
 * one exception: `output` includes `reasoning`, `outputAudio` and `outputImage`.
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
  outputImage?: number
  toolCalls?: number
  /**
   * The number of uses of each of the provider's tools, such as `web_search`. The sum of these
   * numbers is `toolCalls`.
   */
  tools?: Record<string, number>
  /** Conditions that change the price of the answer, such as the service tier `fast`. */
  conditions?: readonly string[]
  /** For a price per call: the number of times that the price is charged. The default is 1. */
  calls?: number
  /** For a price per second: the seconds of the video. */
  seconds?: number
  /** The number of delivered images. */
  images?: number
}

/**
 * A correction of a call's charge. `charge` is the charge before the correction, and `corrected`
 * the charge after it. `amount` is the difference, which is negative for a refund.
 */
export type LoggedCorrection = {
  correction_id: string
  amount: number
  charge: number
  corrected: number
  created_at: number
  requested_by: { id: number; name: string }
  reason: string
}

/**
 * The members of the JSON text in the log field `other`. Most ratios and prices are numbers. The
 * member `price` contains the same ratios and prices as exact decimals.
 */
export type LogOther = {
  model_ratio?: number
  model_price?: number
  completion_ratio?: number
  group_ratio?: number
  /**
   * The group ratio by which the call was charged. Present only if the call's group is not the
   * user's group.
   */
  user_group_ratio?: number
  cache_tokens?: number
  cache_ratio?: number
  cache_creation_tokens?: number
  cache_creation_ratio?: number
  /** The part of the input that the provider read from its cache, from 0 to 1. */
  cache_hit_rate?: number
  /**
   * The quota that the provider's cache saved, compared to a charge for ordinary input. Negative if
   * cache writes cost more than cache reads saved.
   */
  cache_saved?: number
  /**
   * True if the call used audio. The next six fields are present only if this field is true. The
   * counts are in tokens. The ratios are the audio prices as multiples of the text price.
   */
  audio?: boolean
  audio_input?: number
  audio_output?: number
  text_input?: number
  text_output?: number
  audio_ratio?: number
  audio_completion_ratio?: number
  /** The time to the first token in milliseconds. */
  frt?: number
  duration_ms?: number
  /** For admins: true if the channel replaced the requested model by `upstream_model_name`. */
  is_model_mapped?: boolean
  upstream_model_name?: string
  /** The requested model and group. Omitted if this model and this group served the call. */
  requested?: { model: string; group: string }
  reasoning_tokens?: number
  /** The reasoning effort that the caller requested, such as `low` or `high`. */
  reasoning_effort?: string
  /**
   * The maximum number of output tokens per choice. Present only if the gateway reduced the
   * requested number, because the balance would not cover the requested number.
   */
  output_limit?: number
  /**
   * The full usage of the call. Present only if the account could pay for only a part of this
   * usage. `usage` is the charged part.
   */
  unpaid_usage?: LoggedUsage
  /**
   * The corrections of the call's charge, oldest first. `quota` is the charge before any
   * correction.
   */
  corrected_by?: readonly LoggedCorrection[]
  /**
   * The batch of the row. A row of a batch covers all lines of the batch with the same model and
   * price.
   */
  batch_id?: string
  batch_lines?: number
  batch_lines_billed?: number
  /** The number of billed lines whose usage was estimated. Omitted if it is 0. */
  batch_lines_estimated?: number
  /** The price factor for batches, as decimal text. Rows of batches have no exact `price`. */
  batch_ratio?: string
  /**
   * The ratios of a batch's images, as multiples of the text price. Present only if the batch has
   * images in its input or in its answers.
   */
  image_ratio?: number
  image_completion_ratio?: number
  /**
   * The number by which the size and quality of a batch's images multiply `model_price`, as decimal
   * text. Omitted for a price per token.
   */
  image_factor?: string
  /** The part of the batch's charges that the account could not pay. */
  unpaid_quota?: number
  usage_source?: string
  end?: string
  /** For a `revoked` call: the error code that the caller received, such as `user_disabled`. */
  end_reason?: string
  /**
   * The wire format of the caller. If the call was converted, the wire format of the provider
   * follows. The field is omitted for calls in OpenAI's chat format that were not converted.
   */
  request_conversion?: readonly string[]
  /**
   * Members of the request that the gateway removed, because the channel forbids them. Only the
   * first members are listed.
   */
  dropped_members?: readonly string[]
  /**
   * The losses of a conversion. A loss is a member of the request that the provider's model or wire
   * format can't express completely, or a content of the answer that the caller's wire format can't
   * express, such as `answer (citations)`. Only the first losses are listed.
   */
  conversion_loss?: readonly string[]
  /** The provider's error message, without keys, accounts and addresses. */
  provider_message?: string
  /**
   * The quota that was held when the call was admitted. When the call ended, the part that exceeded
   * the charge was released.
   */
  hold?: number
  anomaly?: string
  /**
   * The price that applied when the call was admitted. Decimals are text, so the charge can be
   * computed again exactly.
   * - With `mode` `tokens`, the members are `model`, `completion`, `cacheRead`, `cacheWrite`,
   *   `image`, `audio`, `audioCompletion` and `group`, and `imageCompletion` for an answer with
   *   images.
   * - With `mode` `call`, the members are `price` and `group`. A price per image is the product of
   *   the model's price and `imageFactor`.
   * - If the input has more than `tierAbove` tokens, all input prices are multiplied by `tierInput`
   *   and all output prices by `tierOutput`.
   * - `condition_fast` is the factor of a service tier, and `condition_audio` is the factor of a
   *   video's sound. `model` or `price` already includes these factors.
   * - `tool_web_search` is the price of 1000 uses in dollars.
   */
  price?: Record<string, string>
  /** The usage that was charged. Counts that are 0 may be omitted. */
  usage?: LoggedUsage
  error_type?: string
  error_code?: string
  status_code?: number
  channel_id?: number
  /**
   * For admins: the user who changed a balance or a group. `note` is the reason that this user
   * wrote. `note` is null if there is no reason, and empty if the reason can no longer be read,
   * because a user's data was erased.
   */
  changed_by?: { id: number; username: string }
  note?: string | null
  /**
   * For admins: the expected cost of the call at the provider, in quota. `cost_ratio` is the
   * provider's price as a multiple of the list price, which is the price at the group ratio 1.
   * Unknown values are omitted.
   */
  cost?: number
  cost_ratio?: string
  /**
   * For admins: the ids of the channels on which an attempt failed. The statistics of channels
   * count the same attempts as failures. All rows of a batch have the same attempts, but only the
   * row whose request id is the id of the batch has these ids.
   */
  failed_channels?: number[]
  /** For admins: the attempts of the call in order, and the ids of their channels. */
  admin_info?: {
    use_channel: number[]
    attempts: { channel: number; status: number | null; error: string | null; ms: number }[]
  }
}

/**
 * A page of the log. `total` is the exact number of matching rows. A sorted list has at most 10 000
 * rows, and `total` is then at most 10 000.
 */
export const LogPage = Type.Object({
  items: Type.Array(LogEntry),
  page: Type.Integer(),
  total: Type.Integer(),
})
export type LogPage = Static<typeof LogPage>

export const LogStat = Type.Object({
  quota: Type.Integer(),
  /**
   * The number of matching calls in the last 60 seconds. `tpm` is the number of model tokens of
   * these calls.
   */
  rpm: Type.Integer(),
  tpm: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  count: Type.Integer(),
})
export type LogStat = Static<typeof LogStat>

/** The usage of one model in one hour, for the chart of the dashboard. */
export const UsagePoint = Type.Object({
  /** The start of the hour in Unix seconds. */
  created_at: Type.Integer(),
  model_name: Type.String(),
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
})
export type UsagePoint = Static<typeof UsagePoint>

/** The filters for the log and for the log's totals. An empty filter is ignored. */
const LogFilters = {
  type: Type.Optional(Type.String({ pattern: '^[0-6]?$' })),
  token_name: Query.text,
  model_name: Query.text,
  group: Query.text,
  request_id: Query.text,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
}

/** Filters for admins, who see the rows of all users. */
const AdminFilters = {
  ...LogFilters,
  username: Query.text,
  channel: Query.integer,
  /**
   * Limits the list to calls with a failed attempt on this channel. Another channel may have
   * answered these calls after a retry. A batch is listed once.
   */
  failed_channel: Type.Optional(
    Type.String({
      pattern: '^[0-9]{0,15}$',
      description: [
        'The id of a channel: lists the calls with a failed attempt on this channel, also those',
        'that another channel answered after a retry. A batch is listed once.',
      ].join(' '),
    }),
  ),
}

const AllStat = Type.Object(AdminFilters)
export type LogQuery = Static<typeof AllStat>
const OwnStat = Type.Object(LogFilters)

/**
 * The columns by which the log can be sorted. A sorted list contains only the newest 10 000 rows.
 * `ratios` means the model ratio, and `retries` the number of retries.
 */
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
  'ratios',
  'first_token',
  'retries',
] as const
export type LogSort = (typeof LOG_SORTS)[number]

/**
 * The paging parameters. `before` is the id of a row and limits the list to older rows. If `sort`
 * is present, `before` is ignored.
 */
const Paging = { ...Query.page, before: Query.integer, ...sortedBy(LOG_SORTS) }
export const AllLogs = Type.Object({ ...Paging, ...AdminFilters })
const OwnLogs = Type.Object({ ...Paging, ...LogFilters })

const FileOptions = {
  format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('ndjson')])),
  /** The IANA time zone in which a CSV file shows times. The default is UTC. */
  zone: Type.Optional(Type.String({ maxLength: 64 })),
  /** The columns of a CSV file, comma-separated. By default, the file has all columns. */
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

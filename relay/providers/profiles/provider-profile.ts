import type { BatchApi } from '#domain/batches/events.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { type BodyEnvelope, type FormatName, isDirectFormat } from '#relay/dialects/wire-format.ts'
import type { Translation } from '../proprietary-chat-apis/chat-translation.ts'
import type { AnswerDecoder, OpenCloud } from '../provider-access-and-decoder-types.ts'
import type { BalanceQuery } from './balance-queries.ts'
import type { ImageAdapter } from './image-adapters.ts'

/** The name of a header that contains only the key, without a scheme such as `Bearer`. */
export type KeyHeader = 'api-key' | 'x-api-key' | 'x-goog-api-key' | 'mj-api-secret'

/** A channel field that only some channel types have. `key` is the field's name in the API. */
export type ProfileField = {
  readonly key: 'other' | 'openai_organization'
  readonly kind: 'text' | 'json' | 'choice'
  readonly label: TranslatedText
  readonly hint: TranslatedText
  /** The value that applies if the field is empty. */
  readonly default: string
  readonly isRequired: boolean
  readonly choices?: readonly string[]
}

/**
 * An alternative base URL of the provider. To select this URL, an admin enters `keyword` instead of
 * an address.
 */
type NamedBase = {
  readonly keyword: string
  readonly name: TranslatedText
  readonly baseUrl: string
}

/** Matches models by the provider's names for them. Any regular expression fits this type. */
export type ModelPattern = { readonly test: (model: string) => boolean }

/**
 * An endpoint for calls in one wire format. In the endpoint's paths, `{model}` is the placeholder
 * of the provider's name for the model, and `{other}` that of the channel's field `other`. The
 * paths of Vertex AI also have `{project}` and `{region}`.
 */
export type CallEndpoint = {
  readonly format: FormatName
  readonly path: string
  /** The path for streams, if it differs from `path`. */
  readonly streamPath?: string
  /** The path for compacting conversations. Omitted if the provider can't compact conversations. */
  readonly compactPath?: string
  /** The path for calls in a format with `isSecondVersion`, if it differs from `path`. */
  readonly secondVersionPath?: string
  /** The path for realtime sessions with the beta protocol, if it differs from `path`. */
  readonly betaPath?: string
  /**
   * Matches the provider's names for the models that this endpoint serves. The default is all
   * models.
   */
  readonly models?: ModelPattern
  /**
   * Matches the host and path of the base URLs that offer this endpoint. If `bases` is set, the
   * endpoint's path begins directly after the host. If `bases` is omitted, all base URLs offer the
   * endpoint, and the endpoint's path is placed below the base URL.
   */
  readonly bases?: RegExp
  /**
   * True if this endpoint takes the key as `Authorization: Bearer` instead of in the provider's own
   * header.
   */
  readonly takesBearer?: true
  /**
   * True if the endpoint is Vertex AI's `predict`. Embeddings requests are converted to its format.
   */
  readonly isPredict?: true
  /** How the request bodies of this endpoint differ from those of the wire format. */
  readonly envelope?: BodyEnvelope
  /**
   * The members of a request that change the request's price at this site, but that the provider
   * ignores. These members are not sent and are reported as losses. The price is thus that of the
   * answer that the provider delivers.
   */
  readonly ignores?: ReadonlySet<string>
  /**
   * The members of the provider's own API that are sent in addition to those of the wire format,
   * each with a pattern of the JSON values that are sent. The price must cover each of these
   * values. A member with any other value is dropped, as at all other endpoints.
   */
  readonly accepts?: ReadonlyMap<string, RegExp>
  /**
   * True if the provider's stream has other events than the wire format. The member `stream` is
   * then not sent, and the complete answer is rendered as a stream.
   */
  readonly isPlainOnly?: true
  /**
   * Converts requests and answers between OpenAI's images API and this endpoint. Omitted if the
   * endpoint has OpenAI's format.
   */
  readonly adapter?: ImageAdapter
  /** How chats are translated to the provider's own format. Omitted if no translation is needed. */
  readonly translation?: Translation
  /**
   * Decodes answers with errors in the provider's own format. Omitted if the provider sends no such
   * errors.
   */
  readonly decoder?: AnswerDecoder
}

/**
 * Returns the endpoint in the caller's format that serves the model. If there is none, returns the
 * first endpoint that serves the model in a format to which the call can be converted. Calls in a
 * direct format are never converted. Returns undefined if no endpoint is found.
 */
export function endpointFor<Endpoint extends CallEndpoint>(
  endpoints: readonly Endpoint[],
  callers: FormatName,
  model: string,
): Endpoint | undefined {
  const serves = ({ models }: CallEndpoint) => models?.test(model) !== false
  const own = endpoints.find((endpoint) => endpoint.format === callers && serves(endpoint))
  if (own !== undefined || isDirectFormat(callers)) return own
  return endpoints.find((endpoint) => !isDirectFormat(endpoint.format) && serves(endpoint))
}

/**
 * The vendors of videos. Each has a separate format for requests and answers
 * (`relay/tasks/videos/`).
 */
export type VideoVendorName =
  | 'doubao'
  | 'hailuo'
  | 'jimeng'
  | 'kling'
  | 'sora'
  | 'veo'
  | 'veo-on-vertex'
  | 'vidu'
  | 'wan'

/**
 * The properties of one provider (a channel type). Most optional properties state how the provider
 * differs from OpenAI.
 */
export type Profile = {
  /** The number of the channel type, as in the API. */
  readonly id: number
  readonly name: string
  /**
   * The base URL of channels for which the operator enters none. Null if the operator must enter a
   * base URL. If the profile has `cloud` and the operator enters no other base URL, the address
   * follows from the key (see `CloudAccess.baseUrlFor`).
   */
  readonly baseUrl: string | null
  /**
   * Returns how a provider is called whose address, credentials or encoding depend on the key, such
   * as a cloud. Omitted for all other providers.
   */
  readonly cloud?: OpenCloud
  readonly bases?: readonly NamedBase[]
  /** The endpoints of calls, in order of preference. Empty if the channel accepts only tasks. */
  readonly endpoints: readonly CallEndpoint[]
  /** The path of the list of models. Null if the provider offers no list. */
  readonly modelsPath: string | null
  /**
   * The name of the header that contains the key. The default is `Authorization` with the scheme
   * `Bearer`.
   */
  readonly keyHeader?: KeyHeader
  readonly keyHint: TranslatedText
  readonly fields?: readonly ProfileField[]
  /**
   * True if requests can't limit the output. A call's hold (the reserved quota) then covers the
   * model's maximum output, even if the caller has set a limit.
   */
  readonly ignoresOutputLimit?: true
  /**
   * The maximum number of thinking tokens that a model generates in addition to the output limit of
   * a request. Omitted if thinking counts towards the limit.
   */
  readonly thinkingBeyondLimit?: number
  /**
   * Set if the request members `enable_thinking` and `thinking_budget` control thinking. `models`
   * matches the provider's names of the models that accept these two members. All other models may
   * refuse the members. Omitted if the provider's chats control thinking as OpenAI's do.
   */
  readonly thinkingSwitch?: {
    readonly models: RegExp
    /** True if thinking must be turned off in requests for answers that are not streamed. */
    readonly isOnlyForStreams?: true
  }
  /** The smallest `thinking_budget` that the provider accepts. The default is 1. */
  readonly thinkingBudgetMin?: number
  /**
   * True if the provider's streams always include usage. By default, requests to the provider then
   * don't ask for usage, because some providers reject such requests.
   */
  readonly sendsUsageByDefault?: true
  /**
   * True if `completion_tokens` excludes reasoning tokens. The output is then `total_tokens` minus
   * `prompt_tokens`.
   */
  readonly isOutputTotalLessPrompt?: true
  readonly balance?: BalanceQuery
  /** The provider's API for batches. Omitted if it has none. */
  readonly batches?: BatchApi
  /**
   * The kind of the tasks that the channel accepts, and the path at which such a task is submitted.
   * Omitted if the channel accepts calls.
   */
  readonly tasks?: { readonly kind: TaskKind; readonly path: string }
  /**
   * The vendor in whose format the channel generates videos, and the provider's names for the video
   * models. The default is all models.
   */
  readonly videos?: { readonly vendor: VideoVendorName; readonly models?: RegExp }
  /** The models that the channel form suggests. */
  readonly models: readonly string[]
}

/**
 * A row of the table of profiles, in which default values are omitted. The names in `models` are
 * separated by spaces.
 */
export type ProfileRow = Pick<Profile, 'id' | 'name'> &
  Partial<Omit<Profile, 'models'>> & { readonly models?: string }

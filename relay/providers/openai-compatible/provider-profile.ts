import type { BatchApi } from '#domain/batches/events.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { type BodyEnvelope, type FormatName, isDirectFormat } from '#relay/dialects/wire-format.ts'
import type { OpenCloud } from '../clouds/cloud-access.ts'
import type { Translation } from '../translations/translation.ts'
import type { BalanceQuery } from './balance-queries.ts'
import type { ImageAdapter } from './image-adapters.ts'

/** A header that holds the key alone, without a scheme such as `Bearer`. */
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
 * Another base URL of the provider. An admin selects it by entering a keyword in place of an
 * address.
 */
export type NamedBase = {
  readonly keyword: string
  readonly name: TranslatedText
  readonly baseUrl: string
}

/**
 * An endpoint for calls in one wire format. In a path, `{model}` stands for the provider's name for
 * the model, and `{other}` for the channel's field `other`.
 */
export type CallEndpoint = {
  readonly format: FormatName
  readonly path: string
  /** The path of streams, if it differs from `path`. */
  readonly streamPath?: string
  /** The path of compactions. Omitted if the provider offers no compactions. */
  readonly compactPath?: string
  /** The path of realtime sessions of the beta protocol, if it differs from `path`. */
  readonly betaPath?: string
  /** Matches the provider's names of the models that this endpoint serves. The default is all. */
  readonly models?: RegExp
  /**
   * Matches the host and the path of the base URLs that offer this endpoint. The endpoint's path
   * then begins at the host. The default is all base URLs, with the path below the base URL.
   */
  readonly bases?: RegExp
  /** True if the key is sent as `Authorization: Bearer`, and not in the provider's header. */
  readonly takesBearer?: true
  /** True if the endpoint is Vertex AI's `predict`, to which embeddings are converted. */
  readonly isPredict?: true
  /** How the bodies of this endpoint differ from the bodies of its format. */
  readonly envelope?: BodyEnvelope
  /** How the requests and answers of this endpoint for images differ from those of OpenAI. */
  readonly adapter?: ImageAdapter
  /** How chats are translated to the provider's own format. Omitted if `format` is this format. */
  readonly translation?: Translation
}

/**
 * Returns the endpoint in the caller's format that serves the model. If there is none, returns the
 * first endpoint to which the call can be converted, or undefined. A call in a direct format is
 * never converted.
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

/** The vendors of videos, each with requests and answers of its own (`relay/tasks/videos/`). */
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

/** Describes how a provider differs from OpenAI. */
export type Profile = {
  /** The number of the channel type in the API. */
  readonly id: number
  readonly name: string
  /**
   * The address for channels without a base URL. Null if every channel must have a base URL. For a
   * cloud provider, it stands for the address that follows from the key and the region.
   */
  readonly baseUrl: string | null
  /** How the keys of a cloud provider are used. */
  readonly cloud?: OpenCloud
  readonly bases?: readonly NamedBase[]
  /** The endpoints of calls, in order of preference. Empty if the channel accepts only tasks. */
  readonly endpoints: readonly CallEndpoint[]
  /** The path of the list of models, or null if the provider has no list. */
  readonly modelsPath: string | null
  /** The name of the header that holds the key. The default is `Authorization: Bearer`. */
  readonly keyHeader?: KeyHeader
  readonly keyHint: TranslatedText
  readonly fields?: readonly ProfileField[]
  /**
   * True if requests can't limit the output. A call's hold then covers the model's maximum output,
   * whatever limit the caller has set.
   */
  readonly ignoresOutputLimit?: true
  /**
   * True if the provider's streams always include usage. Such a provider rejects requests that ask
   * for usage.
   */
  readonly sendsUsageByDefault?: true
  /**
   * True if `completion_tokens` does not include reasoning. The output is then the total tokens
   * minus the prompt tokens.
   */
  readonly isOutputTotalLessPrompt?: true
  readonly balance?: BalanceQuery
  /** The API of batches that the provider offers, if it offers one. */
  readonly batches?: BatchApi
  /**
   * The kind of tasks that the channel accepts in place of calls, and the path of the simplest
   * task.
   */
  readonly tasks?: { readonly kind: TaskKind; readonly path: string }
  /**
   * The vendor whose format the channel's videos have, and the provider's names of their models.
   * The default is all models.
   */
  readonly videos?: { readonly vendor: VideoVendorName; readonly models?: RegExp }
  /** The models that the channel form suggests. */
  readonly models: readonly string[]
}

/** A profile without its default values. In `models`, names are separated by spaces. */
export type ProfileRow = Pick<Profile, 'id' | 'name'> &
  Partial<Omit<Profile, 'models'>> & { readonly models?: string }

import type { Words } from '#domain/shared/translated-text.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import type { BalanceQuery } from './balance-query.ts'

/** The name of a header that holds the key without a scheme such as `Bearer`. */
export type KeyHeader = 'api-key' | 'mj-api-secret'

/** A channel field that only some channel types have. `key` is the field's name in the API. */
export type ProfileField = {
  readonly key: 'other' | 'openai_organization'
  readonly kind: 'text' | 'json' | 'choice'
  readonly label: Words
  readonly hint: Words
  /** The value that applies if the field is empty. */
  readonly default: string
  readonly isRequired: boolean
  readonly choices?: readonly string[]
}

/** Another base URL of the provider, which an admin selects by entering a keyword as address. */
export type NamedBase = {
  readonly keyword: string
  readonly name: Words
  readonly baseUrl: string
}

/**
 * Describes how a provider of OpenAI's chat format differs from OpenAI. In paths, `{model}` is the
 * provider's name for the model and `{other}` the channel's field `other`.
 */
export type Profile = {
  /** The number of the channel type in the API. */
  readonly id: number
  readonly name: string
  /** The address for channels without a base URL. If null, a channel must have a base URL. */
  readonly baseUrl: string | null
  readonly bases?: readonly NamedBase[]
  readonly chatPath: string
  /** The path of the list of models, or null if the provider has no list. */
  readonly modelsPath: string | null
  /** The name of the header that holds the key. The default is `Authorization: Bearer`. */
  readonly keyHeader?: KeyHeader
  readonly keyHint: Words
  readonly fields?: readonly ProfileField[]
  /**
   * True if the provider's streams always include usage and requests that ask for usage are
   * rejected.
   */
  readonly sendsUsageByDefault?: true
  /**
   * True if `completion_tokens` exclude reasoning, so that the output is computed as the total
   * tokens minus the prompt tokens.
   */
  readonly isOutputTotalLessPrompt?: true
  readonly balance?: BalanceQuery
  /**
   * The kind of tasks that the channel accepts in place of chats. For such a channel, `chatPath` is
   * the path of the simplest task.
   */
  readonly tasks?: TaskKind
  /** The models that the channel form suggests. */
  readonly models: readonly string[]
}

/** The values of a profile that differ from the defaults. `models` are separated by spaces. */
export type ProfileRow = Pick<Profile, 'id' | 'name'> &
  Partial<Omit<Profile, 'models'>> & { readonly models?: string }

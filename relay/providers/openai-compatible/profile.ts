import type { TaskKind } from '#domain/task/events.ts'
import type { Words } from '#infra/http/language.ts'
import type { BalanceQuery } from './balance-query.ts'

/** A header that holds the key without a scheme. */
export type KeyHeader = 'api-key' | 'mj-api-secret'

/** A field of a channel that only some types have. `key` is its name on the wire. */
export type ProfileField = {
  readonly key: 'other' | 'openai_organization'
  readonly kind: 'text' | 'json' | 'choice'
  readonly label: Words
  readonly hint: Words
  /** The value that applies while the field is empty. */
  readonly default: string
  readonly isRequired: boolean
  readonly choices?: readonly string[]
}

/** Another address of the same provider, selected by a keyword in place of an address. */
export type NamedBase = {
  readonly keyword: string
  readonly name: Words
  readonly baseUrl: string
}

/**
 * Describes how an upstream of OpenAI's chat format differs from OpenAI. Paths may contain
 * `{model}` (the provider's name for the model) and `{other}` (the channel's field of that name).
 */
export type Profile = {
  /** The number of the channel type on the wire. */
  readonly id: number
  readonly name: string
  /**
   * The address that is used when the channel has no base URL. If null, the channel must have one.
   */
  readonly baseUrl: string | null
  readonly bases?: readonly NamedBase[]
  readonly chatPath: string
  /** The path of the list of models; null if the provider has none. */
  readonly modelsPath: string | null
  /** The header that holds the key. The default is `Authorization: Bearer`. */
  readonly keyHeader?: KeyHeader
  readonly keyHint: Words
  readonly fields?: readonly ProfileField[]
  /** The provider sends usage with its streams by default, and rejects requests that ask for it. */
  readonly sendsUsageByDefault?: true
  /**
   * The provider's `completion_tokens` exclude reasoning, so the output is the total minus the
   * prompt.
   */
  readonly isOutputTotalLessPrompt?: true
  readonly balance?: BalanceQuery
  /**
   * The channel accepts tasks of this kind and no chats. `chatPath` is the path of the simplest
   * task.
   */
  readonly tasks?: TaskKind
  /** Models that the form suggests. */
  readonly models: readonly string[]
}

export const CHAT_PATH = '/v1/chat/completions'
export const MODELS_PATH = '/v1/models'

/** A hint for providers whose keys have no particular format. */
export const ANY_KEY: Words = {
  zh: '请输入渠道对应的鉴权密钥',
  en: 'The key of your account at the provider',
}

/**
 * Defaults for providers about which nothing else is known: OpenAI's paths, and an address that the
 * operator enters.
 */
export const OPENAI_LIKE = {
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: [],
} satisfies Partial<Profile>

import type { TaskKind } from '#domain/task/events.ts'
import type { Words } from '#infra/http/language.ts'
import type { BalanceQuery } from './balance-query.ts'

/** A header that is the key, without any scheme. */
export type KeyHeader = 'api-key' | 'mj-api-secret'

/** A field of a channel that only some types have; `key` as on the wire. */
export type ProfileField = {
  readonly key: 'other' | 'openai_organization'
  readonly kind: 'text' | 'json' | 'choice'
  readonly label: Words
  readonly hint: Words
  /** What is used while it is empty. */
  readonly default: string
  readonly isRequired: boolean
  readonly choices?: readonly string[]
}

/** A second address of the same provider, chosen by a word in the place of an address. */
export type NamedBase = {
  readonly keyword: string
  readonly name: Words
  readonly baseUrl: string
}

/**
 * An upstream that speaks OpenAI's chat format: everything that sets it apart. Paths may hold
 * `{model}` (the provider's name of it) and `{other}` (that field of the channel).
 */
export type Profile = {
  /** The channel type's number on the wire. */
  readonly id: number
  readonly name: string
  /** Used when the channel has no base URL; null: the channel must have one. */
  readonly baseUrl: string | null
  readonly bases?: readonly NamedBase[]
  readonly chatPath: string
  /** Where it lists its models; null: it does not. */
  readonly modelsPath: string | null
  /** How the key is sent; `bearer` unless it says something else. */
  readonly keyHeader?: KeyHeader
  readonly keyHint: Words
  readonly fields?: readonly ProfileField[]
  /** Sends usage with its streams unasked, and refuses requests that ask for it. */
  readonly isUsageUnasked?: true
  /** Its `completion_tokens` leave reasoning out: the output is the total less the prompt. */
  readonly isOutputTotalLessPrompt?: true
  readonly balance?: BalanceQuery
  /** Takes tasks of this kind, and no chats: `chatPath` is where the plainest of them goes. */
  readonly tasks?: TaskKind
  /** Models it is known for, to choose from in a form. */
  readonly models: readonly string[]
}

export const CHAT_PATH = '/v1/chat/completions'
export const MODELS_PATH = '/v1/models'

/** Nothing particular to say of its key. */
export const ANY_KEY: Words = {
  zh: '请输入渠道对应的鉴权密钥',
  en: 'The key of your account there',
}

/** Where nothing else is known: the paths of OpenAI, and an address that the operator gives. */
export const OPENAI_LIKE = {
  baseUrl: null,
  chatPath: CHAT_PATH,
  modelsPath: MODELS_PATH,
  keyHint: ANY_KEY,
  models: [],
} satisfies Partial<Profile>

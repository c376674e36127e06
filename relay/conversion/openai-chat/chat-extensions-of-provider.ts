/**
 * The extensions of OpenAI's chat format that a provider accepts in requests. OpenAI rejects
 * unknown members, so an extension is sent only if the provider is known to accept it.
 */
export type ChatExtensions = {
  /** The member with the output limit. Older servers accept only `max_tokens`. */
  readonly outputLimit: 'max_completion_tokens' | 'max_tokens'
  /** The member that controls how much a model thinks. Null if there is none. */
  readonly thinkingControl: ThinkingControl | null
  /**
   * True for OpenAI's own models at OpenAI and Azure, which refuse members that a model can't use,
   * such as a temperature while it reasons.
   */
  readonly hasOpenAiModels: boolean
  /**
   * OpenAI's name for the model that a deployment runs. Omitted if the provider calls the model by
   * OpenAI's name.
   */
  readonly openAiModel?: string
  /** The member of an assistant's message that contains its thinking. Null if there is none. */
  readonly thinkingHistory: 'reasoning_content' | 'reasoning_details' | null
  /** True if `cache_control` is accepted on parts and tools, as by OpenRouter and Qwen. */
  readonly hasCacheMarks: boolean
  /** True if `extra_content.google.thought_signature` is accepted on tool calls, as by Gemini. */
  readonly hasCallSignatures: boolean
  /**
   * True if every message may have a list of text parts. Otherwise, texts are joined to one string.
   */
  readonly hasTextLists: boolean
  /**
   * True if tool results may contain images and files. Otherwise, these follow in a user's message.
   */
  readonly hasToolResultMedia: boolean
  /** True if files by URL, and audio formats other than `wav` and `mp3` are accepted. */
  readonly hasAllMedia: boolean
  readonly hasTopK: boolean
  readonly hasPromptCacheKey: boolean
  /** True if `stream_options.include_usage` is accepted. */
  readonly hasStreamOptions: boolean
}

/**
 * The member that controls thinking. OpenAI has `reasoning_effort`, and OpenRouter has `reasoning`.
 * Zhipu, Moonshot and Volcengine have `thinking`, and Qwen has `enable_thinking`. The value
 * `enable_thinking: false` stands for a member that can only turn thinking off.
 */
export type ThinkingControl =
  | 'reasoning_effort'
  | 'reasoning'
  | 'thinking'
  | 'enable_thinking'
  | 'enable_thinking: false'

/** OpenAI's own servers. */
export const OPENAI: ChatExtensions = {
  outputLimit: 'max_completion_tokens',
  thinkingControl: 'reasoning_effort',
  hasOpenAiModels: true,
  thinkingHistory: null,
  hasCacheMarks: false,
  hasCallSignatures: false,
  hasTextLists: true,
  hasToolResultMedia: false,
  hasAllMedia: false,
  hasTopK: false,
  hasPromptCacheKey: true,
  hasStreamOptions: true,
}

/** OpenRouter, which accepts the extensions of all providers behind it. */
export const OPEN_ROUTER: ChatExtensions = {
  ...OPENAI,
  outputLimit: 'max_tokens',
  thinkingControl: 'reasoning',
  hasOpenAiModels: false,
  thinkingHistory: 'reasoning_details',
  hasCacheMarks: true,
  hasCallSignatures: true,
  hasToolResultMedia: true,
  hasAllMedia: true,
  hasTopK: true,
}

/** Servers that accept what OpenAI's servers accepted in 2024, such as DeepSeek's. */
export const COMPATIBLE: ChatExtensions = {
  ...OPENAI,
  outputLimit: 'max_tokens',
  hasOpenAiModels: false,
  thinkingHistory: 'reasoning_content',
  hasTextLists: false,
  hasPromptCacheKey: false,
}

const OPENAI_TYPE = 1
const AZURE_TYPE = 3
const OPEN_ROUTER_TYPE = 20

/**
 * Conversions don't write `stream_options`, because this member is added later if the provider
 * allows it.
 */
const withoutStreamOptions = (vendor: ChatExtensions) => ({ ...vendor, hasStreamOptions: false })
const OTHERS = withoutStreamOptions(COMPATIBLE)
const BY_TYPE: ReadonlyMap<number, ChatExtensions> = new Map([
  [OPENAI_TYPE, withoutStreamOptions(OPENAI)],
  [AZURE_TYPE, { ...OTHERS, hasOpenAiModels: true }],
  [OPEN_ROUTER_TYPE, withoutStreamOptions(OPEN_ROUTER)],
])

/** Returns the extensions that the provider of a channel type accepts in requests. */
export const chatExtensionsOf = (channelType: number): ChatExtensions =>
  BY_TYPE.get(channelType) ?? OTHERS

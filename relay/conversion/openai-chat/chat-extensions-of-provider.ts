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
   * True if the provider serves OpenAI's own models, as OpenAI and Azure do. These models refuse
   * members that they can't use, such as a temperature while they reason.
   */
  readonly hasOpenAiModels: boolean
  /**
   * OpenAI's name for the model that a deployment runs. Omitted if the provider calls the model by
   * OpenAI's name.
   */
  readonly openAiModel?: string
  /** The member of an assistant's message that contains its thinking. Null if there is none. */
  readonly thinkingHistory: 'reasoning_content' | 'reasoning_details' | null
  /** True if the provider accepts `cache_control` on parts and tools, as OpenRouter and Qwen do. */
  readonly hasCacheMarks: boolean
  /**
   * True if the provider accepts `extra_content.google.thought_signature` on tool calls, as Gemini
   * does.
   */
  readonly hasCallSignatures: boolean
  /**
   * True if every message may have a list of text parts. Otherwise, texts are joined to one string.
   */
  readonly hasTextLists: boolean
  /**
   * True if tool results may contain images and files. Otherwise, the images and files are sent in
   * a user's message after the results.
   */
  readonly hasToolResultMedia: boolean
  /** True if the provider accepts files by URL and audio formats other than `wav` and `mp3`. */
  readonly hasAllMedia: boolean
  readonly hasTopK: boolean
  readonly hasPromptCacheKey: boolean
  /** True if the provider accepts `verbosity`, `prompt_cache_retention` and `safety_identifier`. */
  readonly hasNewerMembers: boolean
  /** True if the provider accepts `stream_options.include_usage`. */
  readonly hasStreamOptions: boolean
}

/**
 * The member that controls thinking. OpenAI has `reasoning_effort`, and OpenRouter has `reasoning`.
 * Zhipu, Moonshot and Volcengine have `thinking`, and Qwen has `enable_thinking`. For a provider
 * with the value `enable_thinking: false`, thinking is turned off in every request.
 */
export type ThinkingControl =
  | 'reasoning_effort'
  | 'reasoning'
  | 'thinking'
  | 'enable_thinking'
  | 'enable_thinking: false'

/** The extensions that OpenAI's own servers accept. */
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
  hasNewerMembers: true,
  hasStreamOptions: true,
}

/**
 * The extensions that OpenRouter accepts. They include those of all providers behind OpenRouter.
 */
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

/**
 * The extensions of servers that accept what OpenAI's servers accepted in 2024. DeepSeek's servers
 * are an example.
 */
export const COMPATIBLE: ChatExtensions = {
  ...OPENAI,
  outputLimit: 'max_tokens',
  hasOpenAiModels: false,
  thinkingHistory: 'reasoning_content',
  hasTextLists: false,
  hasPromptCacheKey: false,
  hasNewerMembers: false,
}

const OPENAI_TYPE = 1
const AZURE_TYPE = 3
const OPEN_ROUTER_TYPE = 20

/**
 * Returns the extensions for a conversion. A conversion does not write `stream_options`, because
 * the gateway adds this member later if the provider accepts it.
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

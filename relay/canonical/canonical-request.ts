import type { JsonObject } from './json-values.ts'
/**
 * A request to a language model, independent of any wire format. It can express everything that the
 * four formats (OpenAI chat, Anthropic messages, OpenAI responses, Gemini) have in common. Members
 * that can't be converted are reported as lost.
 */
export type CanonicalRequest = {
  readonly model: string
  readonly isStream: boolean
  /** The instructions before the conversation, in the order of the request. */
  readonly system: readonly ContentPart[]
  readonly messages: readonly CanonicalMessage[]
  readonly tools: readonly CanonicalTool[]
  /** How the model may choose tools. Null if the request leaves this to the provider's default. */
  readonly toolChoice: ToolChoice | null
  /** Whether the model may call several tools at once. Null if the request does not state this. */
  readonly allowsParallelCalls: boolean | null
  /** The output limit per choice, in tokens. Null if the request sets no limit. */
  readonly outputTokensMax: number | null
  readonly sampling: Sampling
  /** How much the model may think. Null if the request does not mention thinking. */
  readonly thinking: Thinking | null
  /** The format in which the answer's text must be. Null for plain text. */
  readonly answerFormat: AnswerFormat | null
  /**
   * The number of alternatives per token in the log probabilities. Null if the request asks for no
   * log probabilities.
   */
  readonly logprobs: number | null
  /** The identifier that the caller uses for its end user. Null if the request has none. */
  readonly endUser: string | null
  /**
   * The key by which a caller groups requests that share the beginning of the prompt. Null if the
   * request has none.
   */
  readonly promptCacheKey: string | null
  /** The members that only OpenAI's two formats have. Omitted if the request has none of them. */
  readonly openAi?: OpenAiMembers
}

/** The members that only OpenAI's two formats have. Null means that the request has none. */
export type OpenAiMembers = {
  /** How detailed the answer is, if this is not the default `medium`. */
  readonly verbosity: string | null
  /** Texts of the caller that OpenAI stores with a request. */
  readonly metadata: JsonObject | null
  /** How long the prompt stays in the cache, such as `24h`. */
  readonly promptCacheRetention: string | null
  /** The identifier for OpenAI's safety checks, if the request has another one for its end user. */
  readonly safetyIdentifier: string | null
}

/** The sampling parameters. Null means the provider's default. */
export type Sampling = {
  readonly choices: number | null
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
  readonly seed: number | null
  readonly presencePenalty: number | null
  readonly frequencyPenalty: number | null
  readonly stop: readonly string[]
}

/**
 * A message of the conversation. Tool results are in messages with the role `user`. A message with
 * the role `system` is an instruction within the conversation.
 */
export type CanonicalMessage = {
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly ContentPart[]
}

/** The lifetime of the cached prompt prefix that ends with the marked part. */
export type CacheMark = '5m' | '1h'

/** The content of a file: an address, base64, an id at the provider, or plain text. */
export type FileSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'file-id'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string }

type Marked = { readonly cache?: CacheMark }

/** A text. `signature` is the signature that Gemini gave the part. */
export type TextPart = Marked & {
  readonly kind: 'text'
  readonly text: string
  readonly signature?: string
}
export type ImagePart = Marked & {
  readonly kind: 'image'
  readonly source: FileSource
  readonly detail?: 'low' | 'high' | 'auto'
}
export type DocumentPart = Marked & {
  readonly kind: 'document'
  readonly source: FileSource
  readonly name?: string
}
export type AudioPart = Marked & {
  readonly kind: 'audio'
  readonly mediaType: string
  readonly data: string
}
/**
 * The thinking of a model before its answer. `signature` is the provider's signature, by which the
 * provider later checks the thinking. `redacted` contains thinking that the provider encrypted. If
 * `redacted` is set, `text` is empty.
 */
export type ThinkingPart = {
  readonly kind: 'thinking'
  readonly text: string
  readonly signature?: string
  readonly redacted?: string
}
/**
 * A tool call. `argumentsJson` is the text of a JSON object. `signature` is the signature that
 * Gemini gave the part.
 */
export type ToolCallPart = Marked & {
  readonly kind: 'tool-call'
  readonly id: string
  readonly name: string
  readonly argumentsJson: string
  readonly signature?: string
}
export type ToolResultPart = Marked & {
  readonly kind: 'tool-result'
  readonly callId: string
  /** The name of the called tool, which Gemini requires. Empty if it is unknown. */
  readonly name: string
  /** The result's texts, images and documents. */
  readonly parts: readonly ContentPart[]
  readonly isError: boolean
}
export type RefusalPart = { readonly kind: 'refusal'; readonly text: string }

export type ContentPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | ThinkingPart
  | ToolCallPart
  | ToolResultPart
  | RefusalPart

/** A tool that the caller runs. Tools that a provider runs are not converted. */
export type CanonicalTool = Marked & {
  readonly name: string
  readonly description: string
  /** The JSON schema of the arguments. */
  readonly schema: JsonObject
  readonly isStrict: boolean | null
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }

/** How much a model may think: a budget in tokens, or an effort, which is a level such as `low`. */
export type Thinking =
  | { readonly kind: 'off' }
  | { readonly kind: 'budget'; readonly tokens: number }
  | { readonly kind: 'effort'; readonly effort: Effort }
  /** The model decides how much it thinks. */
  | { readonly kind: 'adaptive' }

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export type AnswerFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema'
      readonly name: string
      readonly schema: JsonObject
      readonly isStrict: boolean | null
    }

/**
 * The result of reading or writing a request. `losses` are the paths of the members that could not
 * be converted, such as `logit_bias` or `messages[2].content[0]`.
 */
export type Converted<Value> = { readonly value: Value; readonly losses: readonly string[] }

/**
 * Thrown if a request can't be converted. `param` is the path, in the caller's format, of the
 * member that prevents the conversion.
 */
export class ConversionError extends Error {
  readonly param: string
  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

/**
 * Thrown by the reader of a format for a member that may be valid in this format but that no other
 * format can express.
 */
export class InexpressibleMemberError extends ConversionError {}

/**
 * Thrown for tools or a tool choice that no provider of another format can serve, because they
 * contradict each other. `code` is the code of the error for the caller.
 */
export class ToolConflictError extends InexpressibleMemberError {
  readonly code: 'duplicate_tool_name' | 'required_tool_missing'
  constructor(code: ToolConflictError['code'], param: string, message: string) {
    super(param, message)
    this.code = code
  }
}

/** Thrown by the writer of a format for a schema that becomes too large when it is converted. */
export class SchemaSizeError extends ConversionError {
  readonly code = 'schema_too_large'
}

/** Thrown if a member of a request is invalid in the caller's own format. */
export class InvalidMemberError extends ConversionError {}

/**
 * Returns the result of `read`, which reads a caller's request. Any `ConversionError` that it
 * throws becomes an `InvalidMemberError`, unless the member may be valid in the caller's format.
 */
export function readCallerRequest<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const isInvalid =
      error instanceof ConversionError && !(error instanceof InexpressibleMemberError)
    throw isInvalid ? new InvalidMemberError(error.param, error.message) : error
  }
}

import type { IncomingHttpHeaders } from 'node:http'
import type { DecimalText, PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { Usage } from '#domain/pricing/usage.ts'
import type { ReadTexts } from '#relay/canonical/answer-text-sink.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { ModelSuffix } from '../adapters/thinking-suffix-of-model-name.ts'
import type { UsageBounds, UsageReport } from '../canonical/provider-usage-report.ts'
import type { RelayError, RelayErrorCode } from '../canonical/relay-error.ts'
import type { FormRules } from '../uploads/form-field-types.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import type { AnswerFault } from './check-successful-answer.ts'
import type { ErrorFormat } from './error-format.ts'
import type { ToolElement } from './openai-chat/find-message-parts-and-tools.ts'
import type { InputBound } from './openai-chat/input-token-bound.ts'
import type { ToolLimits } from './provider-tool-limits.ts'
import type { Member } from './scan-request-object.ts'
import type { StreamFormat } from './stream-format.ts'

/** The highest output limit in tokens that a request may have. */
export const OUTPUT_TOKENS_MAX = 10_000_000

/** A request to a model, with the fields that the gateway reads from it. */
export type ChatRequest = {
  readonly format: WireFormat
  readonly body: Buffer
  readonly members: readonly Member[]
  readonly model: string
  /**
   * The suffix that the caller's model name had, such as `-thinking`. `model` does not contain the
   * suffix.
   */
  readonly suffix?: ModelSuffix
  /** The model that the caller named, if `model` is a fallback for that model. */
  readonly fallbackFor?: string
  /**
   * True if the body names another model than the path. The model in the path is then called.
   * Omitted otherwise.
   */
  readonly namesOtherModel?: true
  readonly isStream: boolean
  /** True if the caller requested a final chunk with the usage of the stream. */
  readonly wantsUsage: boolean
  /**
   * The number of answers that the provider generates. In formats whose answers are not texts, this
   * is the number of billed units, such as images.
   */
  readonly choices: number
  /** The number of answers that the caller receives, if the provider generates more. */
  readonly returnedChoices?: number
  /** The output limit per choice; null if the caller set no limit. */
  readonly outputTokensMax: number | null
  /**
   * The caller's `reasoning_effort`, or `other` if it is not a known effort. Null if it is absent
   * or not a text.
   */
  readonly reasoningEffort: string | null
  /**
   * True if the request excludes images from the answer. This is set only for a format whose
   * providers obey the exclusion.
   */
  readonly hasNoImageAnswer?: true
  /**
   * The factor by which the price of an image is multiplied (see `PerCallPrice`). It is set for
   * requests that generate images, in which each image is one choice.
   */
  readonly imageFactor?: DecimalText
  readonly inputBound: InputBound
  readonly tools: readonly ToolElement[]
  /**
   * The limits of the provider tools that have a price. Omitted if the request has no such tools.
   */
  readonly toolLimits?: ToolLimits
  /** The stored content to which the request refers. Omitted if it refers to none. */
  readonly stored?: StoredInput
  /**
   * The number of stored items that the gateway inserted before those of the caller. Omitted if
   * there are none.
   */
  readonly insertedItems?: number
  /** True if the gateway stores the content of the response when the call is converted. */
  readonly storesContent?: true
  /**
   * The lengths of the text (`bytes` in UTF-8) or of the audio. Omitted unless the request may be
   * billed by such a length instead of tokens.
   */
  readonly measures?: {
    readonly characters: number
    readonly bytes?: number
    readonly seconds: number
  }
  /**
   * The uploaded files of a form, by the ids with which `body` refers to them. Omitted if there are
   * none.
   */
  readonly files?: ReadonlyMap<string, SpooledFile>
  /** The files at the provider to which the request refers. Omitted if there are none. */
  readonly fileReferences?: readonly FileReference[]
}

/** A file in the operator's account at the provider. `param` is the member that names the file. */
export type FileReference = {
  /** The provider's id or address of the file; null if it can't be read. */
  readonly id: string | null
  readonly param: string
}

/**
 * A reference to an earlier response or to one of its items: the id, and the request's member that
 * contains the reference. `span` is the position in the body of the input item that contains the
 * reference. `span` is omitted for a previous response.
 */
export type StoredReference = {
  readonly id: string
  readonly param: string
  readonly span?: { readonly start: number; readonly end: number }
}

/** Content at a provider that becomes part of a request's input. */
export type StoredInput = {
  readonly references: readonly StoredReference[]
  /**
   * The channel and the key of the account that stores the content. Null until they have been
   * looked up.
   */
  readonly place: { readonly channelId: number; readonly keyRef: string } | null
  /** The number of tokens of the content. */
  readonly tokens: number
}

/**
 * The differences between the top-level members of a provider's request bodies and those of the
 * format.
 */
export type BodyEnvelope = {
  /** The folded names of the members to remove. */
  readonly removed: ReadonlySet<string>
  /** The members to add, as JSON texts by name. */
  readonly added: ReadonlyMap<string, string>
}

/** The changes that turn a caller's request into the request to the provider. */
export type UpstreamChange = {
  readonly model: string
  /** True if `model` is the name of a deployment, which may be any name. */
  readonly isDeployment?: boolean
  readonly forcesUsage: boolean
  /** The members that the channel overrides, as JSON texts by member name. */
  readonly overrides: ReadonlyMap<string, string>
  /**
   * The members to remove, for example because the model refuses them together with an override.
   */
  readonly removed?: ReadonlySet<string>
  /**
   * The restricted members that may be sent to the provider. The entry `PROVIDER_TOOLS` permits
   * tools that the provider runs.
   */
  readonly allowed: ReadonlySet<string>
  /**
   * The maximum number of output tokens per choice. This limit is sent if the request has a larger
   * limit or no limit.
   */
  readonly outputTokens?: number | null
  /**
   * The changes of top-level members that are made last, because the changed body can't be read as
   * a request again.
   */
  readonly envelope?: BodyEnvelope
}

/** The body of the request to the provider. */
export type UpstreamBody = {
  readonly body: Buffer
  /**
   * The restricted members that were removed, in the caller's spelling. The entry `PROVIDER_TOOLS`
   * means that tools that the provider would run were removed.
   */
  readonly dropped: readonly string[]
}

/** The properties of a request and its channel that decide how a usage report is read. */
export type UsageContext = UsageBounds & {
  readonly body: Buffer
  readonly isOutputTotalLessPrompt: boolean
  readonly price?: PriceSnapshot
  /**
   * The `choices` of the request. For a rerank call, this is the maximum number of search units.
   */
  readonly choices?: number
}

/**
 * The formats for calls of a language model. Each of them can be converted to all the others,
 * except to `completions`.
 */
export type ConvertedFormatName = 'chat' | 'completions' | 'messages' | 'responses' | 'gemini'

/**
 * The formats that are never converted. Only channels with an endpoint for the format can serve
 * them.
 */
export const DIRECT_FORMATS = [
  'embeddings',
  'moderations',
  'rerank',
  'images',
  'image-edits',
  'image-variations',
  'speech',
  'transcriptions',
  'translations',
  'gemini-embedding',
  'gemini-embedding-batch',
  'gemini-images',
  'realtime',
] as const
export type DirectFormatName = (typeof DIRECT_FORMATS)[number]

/**
 * The name of a wire format. Idempotency keys are stored with these names, so the names must not
 * change.
 */
export type FormatName = ConvertedFormatName | DirectFormatName

export const isDirectFormat = (name: FormatName): name is DirectFormatName =>
  (DIRECT_FORMATS as readonly string[]).includes(name)

/**
 * The model and the kind of answer (stream or not) that a request's path names. Gemini's requests
 * have them in the path and not in the body.
 */
export type PathParameters = { readonly model: string; readonly isStream: boolean }

/**
 * The properties and functions of a wire format that the pipeline of a call uses. All functions are
 * pure, and none of them parses a complete request into objects.
 */
export type WireFormat = {
  readonly name: FormatName
  /**
   * True for the format of compaction requests, which summarize a conversation. It has the name of
   * the Responses API's format, but a different path and no output limit.
   */
  readonly isCompaction?: true
  /**
   * True for the second version of Cohere's rerank API. Each version has members that the other
   * lacks, so a provider with both versions is called with the caller's version.
   */
  readonly isSecondVersion?: true
  /**
   * The member with the caller's texts. Errors about these texts name this member. The default is
   * `messages`.
   */
  readonly promptMember?: string
  /**
   * The rules for reading requests that are forms. `readRequest` receives a form as a JSON
   * document. Omitted if requests are always JSON.
   */
  readonly form?: FormRules
  /**
   * Returns the format of requests that are forms, if it differs from the format of JSON bodies.
   */
  readonly ofForms?: () => WireFormat
  /** True if answers are bytes, such as audio, which are forwarded unchanged as they arrive. */
  readonly hasBinaryAnswer?: true
  /**
   * Returns the request with those limits that depend on the model's name. Used if another model
   * than the requested one is called: a fallback model, or one to which the channel maps the name.
   */
  readonly forModel?: (request: ChatRequest) => ChatRequest
  /** Returns the request with those limits that depend on the price of its model. */
  readonly withPrice?: (request: ChatRequest, price: PriceSnapshot) => ChatRequest
  /**
   * Returns the usage of a call for which the provider reported none. `counted` contains the
   * gateway's token counts of the request and of the answer. By default, these counts are the
   * usage.
   */
  readonly countUsage?: (
    request: ChatRequest,
    counted: { readonly input: number; readonly output: number },
    price: PriceSnapshot,
  ) => Usage
  /** Returns the content type of a complete answer. The default is JSON. */
  readonly answerType?: (body: Buffer) => string
  readonly readRequest: (body: Buffer, path: PathParameters | null) => ChatRequest | RelayError
  /**
   * Reads a request that was changed after it was checked, for example by overrides. Its names are
   * not checked for ambiguity again.
   */
  readonly readChangedRequest: (body: Buffer, path: PathParameters) => ChatRequest | RelayError
  /** Returns the body of a very short request with which a channel is tested. */
  readonly shortBody: (path: PathParameters, outputTokens: number) => object
  /**
   * Returns an outline (a short form) of the request. It has the same model, limits and number of
   * choices, but only a short prompt. The outline of a request to an audio endpoint is the request
   * itself.
   */
  readonly outlineOf: (request: ChatRequest) => ChatRequest
  readonly upstreamBody: (request: ChatRequest, change: UpstreamChange) => UpstreamBody
  /**
   * Returns the caller's headers that are sent to the provider, as a flat list of names and values.
   * `sent` is the request to the provider. It is omitted for requests of a batch.
   */
  readonly passedHeaders: (headers: IncomingHttpHeaders, sent?: ChatRequest) => readonly string[]
  readonly usageInAnswer: (body: Buffer) => unknown
  readonly readUsage: (raw: unknown, context: UsageContext) => UsageReport
  /**
   * Finds and replaces the model's name in an answer or in its events. By default, the name is the
   * value of the member `model`.
   */
  readonly modelName?: {
    readonly find: (bytes: Buffer) => string | null
    readonly replace: (bytes: Buffer, model: string) => Buffer
  }
  /** Checks an answer with status 200. Returns null if it is valid. */
  readonly errorOfAnswer: (body: Buffer) => AnswerFault | null
  /**
   * Returns the error in a complete answer that failed although it has the expected format, in the
   * form of an error response's body. Returns null for any other answer. A failed answer that
   * reports usage is valid for `errorOfAnswer`, because the provider charges for it.
   */
  readonly errorOfFailedAnswer?: (body: Buffer) => JsonObject | null
  /**
   * Returns the error for a complete answer that lacks the requested result, such as an image; null
   * for any other answer. The call is charged by the usage that the answer reports.
   */
  readonly errorWithoutResult?: (body: Buffer) => RelayErrorCode | null
  /** Removes confidential texts from an answer that is valid but may contain an error. */
  readonly redactedAnswer?: (body: Buffer, confidential: readonly string[]) => Buffer
  /**
   * Corrects an answer if the provider ignored a part of the request, such as the encoding of
   * vectors.
   */
  readonly adaptAnswer?: (request: ChatRequest, body: Buffer) => Buffer
  /** Renders a complete answer as a stream. */
  readonly streamOfAnswer: (body: Buffer) => string
  /** The maximum length in bytes of a complete answer. The default is `ANSWER_BYTES_MAX`. */
  readonly answerBytesMax?: number
  /**
   * True if answers in this format never contain text. Such answers are not screened for blocked
   * words, and no text is read from them for billing.
   */
  readonly hasTextlessAnswers?: true
  readonly readTexts: ReadTexts
  readonly stream: StreamFormat
  readonly errors: ErrorFormat
}

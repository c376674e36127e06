import type { IncomingHttpHeaders } from 'node:http'
import type { DecimalText, PriceSnapshot } from '#domain/pricing/price.ts'
import type { Usage } from '#domain/pricing/usage.ts'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'
import type { ModelSuffix } from '../adapters/model-suffix.ts'
import type { UsageBounds, UsageReport } from '../canonical/provider-usage-report.ts'
import type { ReadTexts } from '../canonical/read-answer-texts.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import type { IsLastEvent } from '../canonical/sse-scanner.ts'
import type { FormRules } from '../uploads/form-field-types.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import type { ToolElement } from './openai-chat/find-message-parts-and-tools.ts'
import type { InputBound } from './openai-chat/input-token-bound.ts'
import type { ToolLimits } from './provider-tool-limits.ts'
import type { Member } from './scan-request-object.ts'

/** The highest output limit that a request may have, in tokens. */
export const OUTPUT_TOKENS_MAX = 10_000_000

/** A request for an answer of a model, with the fields that the gateway reads. */
export type ChatRequest = {
  readonly format: WireFormat
  readonly body: Buffer
  readonly members: readonly Member[]
  readonly model: string
  /** The suffix that the caller's name for the model has and `model` has not. */
  readonly suffix?: ModelSuffix
  /** The model that the caller named, if `model` is a fallback model for it. */
  readonly fallbackFor?: string
  readonly isStream: boolean
  /** True if the caller requested a final chunk with the usage of the stream. */
  readonly wantsUsage: boolean
  /** The number of answers that the provider generates. */
  readonly choices: number
  /** The number of answers that the caller gets, if the provider generates more. */
  readonly returnedChoices?: number
  /** The output limit per choice; null if the caller set no limit. */
  readonly outputTokensMax: number | null
  /** The caller's `reasoning_effort`; null if it is absent or not a plain word. */
  readonly reasoningEffort: string | null
  /**
   * True if the request excludes images from the answer, in a format whose providers comply with
   * this.
   */
  readonly hasNoImageAnswer?: true
  /**
   * Set for a request that generates images. The price of an image is multiplied by this factor
   * (see `PerCallPrice`). Each image is one choice.
   */
  readonly imageFactor?: DecimalText
  readonly inputBound: InputBound
  readonly tools: readonly ToolElement[]
  /** Omitted if the request has none of the provider's tools that have a price per use. */
  readonly toolLimits?: ToolLimits
  /** The content to which the request refers. Undefined if it refers to none. */
  readonly stored?: StoredInput
  /** The billed amounts in requests whose text or audio is not counted in tokens. */
  readonly measures?: { readonly characters: number; readonly seconds: number }
  /** The files of a form, by the ids with which `body` names them. Omitted if there are none. */
  readonly files?: ReadonlyMap<string, SpooledFile>
  /** The files of the provider that the request names. Omitted if it names none. */
  readonly fileReferences?: readonly FileReference[]
}

/** A file in the account of the site at the provider. `param` is the member that names it. */
export type FileReference = {
  /** The provider's id or address of the file; null if it can't be read. */
  readonly id: string | null
  readonly param: string
}

/** Content that a provider stores, and that is a part of the input of a request. */
export type StoredInput = {
  /** The ids of earlier responses and their items, each with the member that refers to it. */
  readonly references: readonly { readonly id: string; readonly param: string }[]
  /** The account that stores the content; null until it is known. */
  readonly place: { readonly channelId: number; readonly keyRef: string } | null
  /** The tokens of the content. */
  readonly tokens: number
}

/** The top-level members by which a provider's bodies differ from the format. */
export type BodyEnvelope = {
  /** The removed members, by their folded names. */
  readonly removed: ReadonlySet<string>
  /** The added members, as JSON texts by member name. */
  readonly added: ReadonlyMap<string, string>
}

export type UpstreamChange = {
  readonly model: string
  /**
   * True if `model` is the name of a deployment. A deployment may have any name, whatever model it
   * runs.
   */
  readonly isDeployment?: boolean
  readonly forcesUsage: boolean
  /** The members that the channel overrides, as JSON texts by member name. */
  readonly overrides: ReadonlyMap<string, string>
  /** The members to remove, because the model refuses them together with an override. */
  readonly removed?: ReadonlySet<string>
  /**
   * The restricted members that may be sent to the provider. The entry `PROVIDER_TOOLS` allows
   * tools that the provider runs.
   */
  readonly allowed: ReadonlySet<string>
  /**
   * The maximum number of output tokens per choice. It is sent if the request has a larger limit or
   * no limit.
   */
  readonly outputTokens?: number | null
  /** Applied last, because a body with an envelope can't be read as a request again. */
  readonly envelope?: BodyEnvelope
}

export type UpstreamBody = {
  readonly body: Buffer
  /**
   * The restricted members that were removed, in the caller's spelling. The entry `PROVIDER_TOOLS`
   * stands for removed tools that the provider would run.
   */
  readonly dropped: readonly string[]
}

/** The content of an event with usage, an error or an empty list of choices. */
export type EventMeaning = {
  /** The usage in the event; undefined if there is none. */
  readonly usage: unknown
  readonly model: unknown
  /** The service tier that the event names, unparsed. */
  readonly serviceTier?: unknown
  /** True if the provider ends the stream with this error. */
  readonly isError: boolean
  /** The error as the body of a response with an error, if the event itself has another shape. */
  readonly error?: object
  /** True if the event contains only usage, which only callers that requested it receive. */
  readonly isUsageOnly: boolean
  /** True if this is the last event of the stream. */
  readonly isLast: boolean
  /**
   * For a stream that ends with the connection. After a `final` event, the stream may end. A
   * `trailing` event may follow a final one.
   */
  readonly ending?: 'final' | 'trailing' | null
}

/** How a stream of a format is read without parsing most of its events. */
export type StreamFormat = {
  readonly isLastEvent: IsLastEvent
  /**
   * True if the stream has no last event. It is then complete if the connection is closed after an
   * event with the ending `final`.
   */
  readonly endsWithConnection?: true
  /**
   * True if the stream is read to its end after the caller has left, because the provider charges
   * for all of it.
   */
  readonly isAlwaysReadOn?: true
  /** The keys that mark the events to inspect. The default is the keys of OpenAI's format. */
  readonly marks?: readonly string[]
  /** The maximum length of an event in bytes. The default is `EVENT_BYTES_MAX`. */
  readonly eventBytesMax?: number
  /** Matches an event after which only usage can follow. */
  readonly finishReason: RegExp
  /** `isErrorEvent` is true for an event whose name is `error`. */
  readonly readEvent: (event: object, isErrorEvent: boolean) => EventMeaning
  /** The event that keeps an idle stream alive. The default is a comment. */
  readonly ping?: string
  /** Combines the usage so far with the usage in a later event. */
  readonly combineUsage: (earlier: unknown, later: unknown) => unknown
  /**
   * Returns the output count of a usage, unparsed; undefined if it has none. Omitted if only the
   * last event of a stream has a usage.
   */
  readonly outputCount?: (usage: unknown) => unknown
}

/** The part of a request and a channel that decides how a usage report is read. */
export type UsageContext = UsageBounds & {
  readonly body: Buffer
  readonly isOutputTotalLessPrompt: boolean
  readonly price?: PriceSnapshot
  /** The most search units that a rerank call may have; 1 for all other calls. */
  readonly choices?: number
}

export type ProviderErrorOptions = {
  /** True if the caller gets none of the provider's texts. */
  readonly isHidden: boolean
  /** The texts that are removed. */
  readonly confidential: readonly string[]
  /** True if the provider has the caller's format, so that its error keeps its wording. */
  readonly isOwnFormat?: boolean
}

/** How the errors of a format are written. */
export type ErrorFormat = {
  /**
   * Renders an error of the gateway in the caller's language, with its HTTP status. `call` is the
   * id of the call.
   */
  readonly errorBody: (
    error: RelayError,
    language: Language,
    call: string,
  ) => { readonly status: number; readonly body: object }
  /** Renders a provider's error. */
  readonly providerErrorBody: (
    bytes: Buffer,
    status: number,
    options: ProviderErrorOptions,
    call: string,
  ) => object
  /** The name of a further header with the id of the call, which the format's clients show. */
  readonly requestIdHeader?: string
  /**
   * Renders an error as the last event of a stream. `sent` has events of the stream before it, if
   * `continuesStream` is true and any were sent.
   */
  readonly errorEvent: (body: object, sent?: SentEvents | null) => string
  /** True if the event of an error depends on the events before it. */
  readonly continuesStream?: true
}

/** The first and the last events that a caller has received. */
export type SentEvents = { readonly first: Buffer; last: Buffer }

/** The formats of calls for an answer of a language model, which are converted to each other. */
export type ConvertedFormatName = 'chat' | 'completions' | 'messages' | 'responses' | 'gemini'

/**
 * The formats that are never converted. Only a channel with an endpoint of the format serves them.
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

/** Idempotency keys are stored with these names, so they must not change. */
export type FormatName = ConvertedFormatName | DirectFormatName

export const isDirectFormat = (name: FormatName): name is DirectFormatName =>
  (DIRECT_FORMATS as readonly string[]).includes(name)

/**
 * The model and the kind of answer that the path of a request names. Only Gemini's requests name
 * them in the path alone.
 */
export type PathParameters = { readonly model: string; readonly isStream: boolean }

/**
 * The properties and functions of a wire format that the pipeline of calls uses. All functions are
 * pure. None builds objects from a complete request.
 */
export type WireFormat = {
  readonly name: FormatName
  /**
   * True for compactions of a conversation. Their requests are those of the format. They have a
   * path of their own and no output limit.
   */
  readonly isCompaction?: true
  /** The member with the texts of the caller, which errors name. The default is `messages`. */
  readonly promptMember?: string
  /** The fields of requests that are forms. `readRequest` gets the document of the form. */
  readonly form?: FormRules
  /** Returns the format of requests that are forms, if it differs from that of JSON bodies. */
  readonly ofForms?: () => WireFormat
  /** True if answers are bytes, such as audio, which pass unchanged while they arrive. */
  readonly hasBinaryAnswer?: true
  /** Sets the limits of a request that depend on the name of its model, for a fallback model. */
  readonly forModel?: (request: ChatRequest) => ChatRequest
  /** Sets the limits of a request that depend on the price of its model. */
  readonly withPrice?: (request: ChatRequest, price: PriceSnapshot) => ChatRequest
  /**
   * Returns the usage of a call without a report of the provider. `counted` has the tokens of the
   * request's text and of the answer. The default is these tokens.
   */
  readonly countUsage?: (
    request: ChatRequest,
    counted: { readonly input: number; readonly output: number },
    price: PriceSnapshot,
  ) => Usage
  /** Returns the type of a plain answer. The default is JSON. */
  readonly answerType?: (body: Buffer) => string
  readonly readRequest: (body: Buffer, path: PathParameters | null) => ChatRequest | RelayError
  /**
   * Reads a request that was changed after its check, for example by overrides. Ambiguous names are
   * not looked for again.
   */
  readonly readChangedRequest: (body: Buffer, path: PathParameters) => ChatRequest | RelayError
  /** Returns the body of the shortest useful request, with which a channel is tested. */
  readonly shortBody: (path: PathParameters, outputTokens: number) => object
  /**
   * Returns an outline of the request, which has the same model, limits and number of choices, but
   * only one short message.
   */
  readonly outlineOf: (request: ChatRequest) => ChatRequest
  readonly upstreamBody: (request: ChatRequest, change: UpstreamChange) => UpstreamBody
  /**
   * Returns the caller's headers that are sent to the provider, as a flat list of names and values.
   * `sent` is the request that is sent, or omitted for requests of a batch.
   */
  readonly passedHeaders: (headers: IncomingHttpHeaders, sent?: ChatRequest) => readonly string[]
  readonly usageInAnswer: (body: Buffer) => unknown
  readonly readUsage: (raw: unknown, context: UsageContext) => UsageReport
  /** How an answer or its events name the model. The default is a member `model`. */
  readonly modelName?: {
    readonly find: (bytes: Buffer) => string | null
    readonly replace: (bytes: Buffer, model: string) => Buffer
  }
  /** Returns null for a valid answer with status 200. */
  readonly errorOfAnswer: (body: Buffer) => 'format' | 'error-event' | null
  /** Removes confidential texts from an answer that may be valid and yet contain an error. */
  readonly redactedAnswer?: (body: Buffer, confidential: readonly string[]) => Buffer
  /** Corrects an answer if the provider ignored a part of the request. */
  readonly adaptAnswer?: (request: ChatRequest, body: Buffer) => Buffer
  /** Renders a complete answer as a stream. */
  readonly streamOfAnswer: (body: Buffer) => string
  /** The maximum length of a plain answer. The default is `ANSWER_BYTES_MAX`. */
  readonly answerBytesMax?: number
  /** True if answers never contain text. They are then not searched for text. */
  readonly hasTextlessAnswers?: true
  readonly readTexts: ReadTexts
  readonly stream: StreamFormat
  readonly errors: ErrorFormat
}

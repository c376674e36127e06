import { isSameModel } from '../canonical/check-answered-model-and-cost.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { screenPrompt } from '../screening/word-screening.ts'
import type { CallContext } from './call-of-session.ts'
import { pcmBytesOf } from './input-audio.ts'
import { InputTranscriptionBilling } from './input-transcription-billing.ts'
import { priceFor, sessionAccessError } from './plan-and-connect-session.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import type { ClientEvent } from './read-client-event.ts'
import type { ResponseBilling } from './response-billing.ts'
import { TRANSCRIPT_TEXTS, TranscriptScreen } from './screen-transcripts.ts'
import { describedSettings, type SessionSettings, type Transcription } from './session-settings.ts'
import { definedSettings, SettingsInForce, type TranscriptionTerms } from './settings-in-force.ts'
import { type ContentSize, NO_CONTENT, textContent } from './size-of-conversation-items.ts'

/**
 * The output limit in tokens of a model whose limit is not known. OpenAI documents this number as
 * the maximum.
 */
const OUTPUT_TOKENS = 4_096
/**
 * Matches the events that report the beginning or the end of speech or silence. The provider
 * commits the audio of such a turn without a request.
 */
const TURNS = /^input_audio_buffer\.(?:speech_(?:started|stopped)|timeout_triggered)$/
/** The events with which a caller commits or clears the audio that it has sent. */
const REQUESTS: Readonly<Record<string, 'commit' | 'clear'>> = {
  'input_audio_buffer.commit': 'commit',
  'input_audio_buffer.clear': 'clear',
}
/**
 * The number of latest events whose ids are kept, because an error of the provider may name them.
 */
const IDS_MAX = 64

type Link = {
  readonly context: CallContext
  readonly model: string
  readonly isBeta: boolean
  /**
   * Sends an event to the provider. Resolves when the connection to the provider can take more
   * data.
   */
  readonly send: (body: object) => Promise<void>
  /** Sends the caller an error for a refused event. */
  readonly refuse: (error: RelayError, eventId: string | null) => void
}

/**
 * Checks the caller's events and sends them to the provider. An event that may begin a response is
 * sent only if quota is reserved for this response. `pass` returns the error with which the session
 * must end, or null.
 */
export class ClientEventGate {
  readonly transcription: InputTranscriptionBilling
  readonly transcripts: TranscriptScreen
  private readonly settings: SettingsInForce
  /**
   * True once the provider may detect speech or silence that begins a response, because audio was
   * sent or the settings let silence begin a response.
   */
  private mayHearSpeech = false
  private readonly outputCap: number | null
  /**
   * The ids that the caller gave to the latest events. The key is the id with which the event was
   * sent to the provider.
   */
  private readonly callersIds = new Map<string, string | null>()
  private readonly calls: ResponseBilling
  private readonly link: Link

  constructor(link: Link, calls: ResponseBilling) {
    this.link = link
    this.calls = calls
    const { deps } = link.context
    this.transcripts = new TranscriptScreen(link.context)
    this.outputCap = deps.views.options.options.outputCaps.get(link.model) ?? null
    this.settings = new SettingsInForce(this.outputCap ?? OUTPUT_TOKENS)
    this.transcription = new InputTranscriptionBilling(link.context, calls.audio, this.settings)
  }

  /** The output limit in tokens of responses that the provider begins without a request. */
  get outputTokensMax(): number {
    return this.settings.outputTokensMax
  }

  /**
   * Sends the settings with which a session begins: the settings of the temporary key, if there is
   * one, and an output limit. Returns false if nothing is sent, because there is no temporary key
   * and the output limit of the model is known. Returns true if settings were sent, and an error if
   * they are refused. `session` is the provider's description of the session.
   */
  async begin(session: unknown, settings: SessionSettings | null): Promise<boolean | RelayError> {
    const unpriced = this.noteDescribed(session)
    if (unpriced !== null) return unpriced
    if (settings === null && this.outputCap !== null) return false
    const terms = await this.transcriptionTerms(settings?.transcription)
    if (terms && isRelayError(terms)) return terms
    if (settings?.respondsToSilence === true) this.mayHearSpeech = true
    const limit = settings?.outputTokensMax ?? this.outputCap ?? OUTPUT_TOKENS
    await this.sendOwnUpdate(limit, settings, terms)
    return true
  }

  /**
   * Returns the id that the caller gave to an event, or null if the caller gave none. `sentId` is
   * the id with which the event was sent to the provider.
   */
  callersIdOf(sentId: unknown): string | null {
    return typeof sentId === 'string' ? (this.callersIds.get(sentId) ?? null) : null
  }

  async pass(event: ClientEvent): Promise<RelayError | null> {
    this.callersIds.set(event.sentId, event.id)
    const [oldest] = this.callersIds.keys()
    if (this.callersIds.size > IDS_MAX && oldest !== undefined) this.callersIds.delete(oldest)
    const error = await this.screen(event)
    if (error !== null) {
      this.link.refuse(error, event.id)
      return null
    }
    const uncovered = await this.passCovered(event)
    if (uncovered === null || !isLimitError(uncovered)) return uncovered
    // If a limit of calls is reached, only this event is refused. The session continues.
    this.link.refuse(uncovered, event.id)
    return null
  }

  private async passCovered(event: ClientEvent): Promise<RelayError | null> {
    if (event.type === 'session.update') return this.passUpdate(event)
    if (event.type === 'response.create') return this.passRequest(event)
    const { calls, transcription, settings } = this
    const isSpeech = event.type.startsWith('input_audio_buffer.')
    const { audioBytes } = isSpeech ? event.content : NO_CONTENT
    const kind = REQUESTS[event.type]
    const full = kind === undefined ? null : calls.audio.checkRequest()
    if (full !== null) return full
    const appended = pcmBytesOf(audioBytes, calls.input.rate)
    if (isSpeech) {
      const uncovered = await transcription.cover(appended)
      if (uncovered !== null) {
        calls.audio.subtractUnsent(appended)
        return uncovered
      }
      this.mayHearSpeech = true
    }
    // Audio becomes part of the conversation only when the provider commits it.
    const content = isSpeech ? NO_CONTENT : event.content
    const send = () => {
      calls.input.add(content)
      if (kind !== undefined) calls.audio.noteRequest(kind, event.sentId, settings.position)
      return this.link.send(event.body)
    }
    const error = this.mayRespond ? await this.coverSpeech(content, send) : await send()
    if (!error) return null
    calls.audio.subtractUnsent(appended)
    return error
  }

  /** True if the provider may begin a response without a request. */
  get mayRespond(): boolean {
    return this.calls.respondsToSpeech && this.mayHearSpeech
  }

  private screen({ type, content, body }: ClientEvent): Promise<RelayError | null> | null {
    if (content.textBytes === 0) return null
    const { deps, caller } = this.link.context
    const { screening } = deps.views.options.options
    const param = type === 'conversation.item.create' ? 'item' : type.split('.')[0]
    // Audio in base64 is removed, because it is not text to check.
    const text = JSON.stringify(body, (name, value) =>
      name === 'audio' && typeof value === 'string' ? '' : value,
    )
    return screenPrompt(screening, caller.group, Buffer.from(text), param)
  }

  /**
   * Reserves quota for a response that the provider may begin without a request, and then calls
   * `send`. If the quota covers less output than the current output limit, a lower limit is sent to
   * the provider first. Returns the error for the caller, or null.
   */
  coverSpeech(
    more: ContentSize = NO_CONTENT,
    send: () => Promise<void> = async () => {},
  ): Promise<RelayError | null> {
    const most = this.outputTokensMax
    return this.calls.cover(most, more, {
      isRequest: false,
      send: async (covered) => {
        if (covered < most) await this.sendOwnUpdate(covered)
        await send()
      },
    })
  }

  private passRequest(event: ClientEvent): Promise<RelayError | null> {
    const { calls } = this
    const requested = this.limitOf(event)
    const most = calls.respondsToSpeech ? Math.max(requested, this.outputTokensMax) : requested
    const send = async (covered: number) => {
      const { response } = event.body as { readonly response?: Record<string, unknown> }
      // `inf` is not sent, because it could allow more output than the hold covers.
      const isLimited = covered < requested || event.outputTokensMax !== undefined
      const outputTokens = Math.min(covered, requested)
      const { sentId: eventId, content, outputRate } = event
      const isInConversation = response?.conversation !== 'none'
      const input = { content, hasOwnInput: Array.isArray(response?.input) }
      calls.noteRequest({ eventId, ...input, isInConversation, outputTokens, outputRate })
      const limited = { ...event.body, response: { ...response, [this.limitName]: outputTokens } }
      await this.link.send(isLimited ? limited : event.body)
    }
    return calls.cover(most, event.content, { isRequest: true, send })
  }

  private async passUpdate({
    id,
    sentId,
    body,
    settings,
  }: ClientEvent): Promise<RelayError | null> {
    if (settings === null) return null
    const subject = 'changes of the settings (this session)'
    const terms = this.settings.isFull
      ? relayError('too_many_concurrent', { subject, retryAfter: 1 })
      : await this.transcriptionTerms(settings.transcription)
    if (terms && isRelayError(terms)) {
      this.link.refuse(terms, id)
      return null
    }
    if (settings.respondsToSilence) this.mayHearSpeech = true
    const { calls } = this
    const isSpeech = calls.respondsToSpeech || settings.respondsToSpeech === true
    const sent = { eventId: sentId, isOwn: false, isLowered: false }
    if (!isSpeech || !this.mayHearSpeech) {
      await this.sendUpdate(body, settings, terms, sent)
      return null
    }
    // Audio that was sent before may begin a response as soon as the new settings apply.
    const most = Math.max(this.outputTokensMax, this.limitOf(settings))
    const send = (covered: number) => {
      const isLowered = covered !== most
      const limited = isLowered ? { ...settings, outputTokensMax: covered } : settings
      return this.sendUpdate(body, limited, terms, { ...sent, isLowered })
    }
    const text = textContent(settings.session)
    const uncovered = await calls.cover(most, text, { isRequest: false, send })
    // A change whose costs are not covered is not sent to the provider.
    if (uncovered !== null) this.transcription.adapt()
    return uncovered
  }

  /**
   * Returns the output limit in tokens for settings or for a requested response. Without a limit in
   * them, this is the current limit. For `inf` (null), it is the limit of the model or
   * `OUTPUT_TOKENS`. The result is at most the limit of the model.
   */
  private limitOf({ outputTokensMax: limit }: Pick<SessionSettings, 'outputTokensMax'>): number {
    const requested = limit === null ? (this.outputCap ?? OUTPUT_TOKENS) : limit
    return Math.min(requested ?? this.outputTokensMax, this.outputCap ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Sends a change of the session's settings to the provider. The output limit in the change is at
   * most the limit of the model.
   */
  private async sendUpdate(
    body: object,
    settings: SessionSettings,
    transcription: TranscriptionTerms | null | undefined,
    sent: { readonly eventId: string; readonly isOwn: boolean; readonly isLowered: boolean },
  ): Promise<void> {
    this.calls.input.add(textContent(settings.session))
    const { outputTokensMax: limit, respondsToSpeech, inputRate, outputRate } = settings
    const outputTokensMax = limit === undefined ? undefined : this.limitOf(settings)
    const terms = { outputTokensMax, respondsToSpeech, inputRate, outputRate, transcription }
    this.settings.add({ ...sent, change: definedSettings(terms) })
    this.applySettings()
    const { max_output_tokens: _, max_response_output_tokens: __, ...others } = settings.session
    const limited = { ...others, [this.limitName]: outputTokensMax }
    const session = limit === undefined ? others : limited
    await this.link.send({ ...body, session })
  }

  private applySettings(): void {
    const { calls, settings } = this
    calls.input.rate = settings.inputRate
    calls.outputRates = settings.outputRates
    calls.respondsToSpeech = settings.respondsToSpeech
  }

  private get limitName(): string {
    return this.link.isBeta ? 'max_response_output_tokens' : 'max_output_tokens'
  }

  private async sendOwnUpdate(
    limit: number,
    from: SessionSettings | null = null,
    transcription?: TranscriptionTerms | null,
  ): Promise<void> {
    const type = this.link.isBeta ? {} : { type: 'realtime' }
    const settings = {
      ...{ respondsToSpeech: undefined, transcription: undefined, respondsToSilence: false },
      ...{ inputRate: undefined, outputRate: undefined },
      ...{ ...from, session: { ...from?.session, ...type }, outputTokensMax: limit },
    }
    const eventId = `event_${newCallId(Date.now())}`
    const body = { type: 'session.update', event_id: eventId }
    await this.sendUpdate(body, settings, transcription, { eventId, isOwn: true, isLowered: true })
  }

  /**
   * Returns the terms of the next transcriptions after a change. Returns null if the change turns
   * transcription off, undefined if the change does not concern transcriptions, and an error if the
   * change is refused.
   */
  private async transcriptionTerms(
    transcription: Transcription | null | undefined,
  ): Promise<TranscriptionTerms | null | undefined | RelayError> {
    if (transcription === undefined) return undefined
    const terms = transcription === null ? null : this.priced(transcription)
    if (terms && isRelayError(terms)) return terms
    return (await this.transcription.change(terms)) ?? terms
  }

  private priced({ model: name, promptTokens }: Transcription): TranscriptionTerms | RelayError {
    const { deps, caller } = this.link.context
    const error = sessionAccessError(caller, deps.views.options.options, name)
    if (error !== null) return error
    const price = priceFor(deps.views, caller, name)
    return 'code' in price ? price : { name, price, promptTokens }
  }

  /**
   * Takes over the settings that the provider names. If the provider transcribes with another model
   * than the requested one, that other model is charged. Returns an error if the caller may not use
   * that model or if it has no price, and otherwise null.
   */
  private noteDescribed(session: unknown): RelayError | null {
    const { transcription, outputTokensMax, ...others } = describedSettings(session)
    const { confirmed } = this.settings
    const { name = '' } = confirmed.transcription ?? {}
    const isSame = name !== '' && transcription != null && isSameModel(name, transcription.model)
    const terms = isSame ? undefined : transcription && this.priced(transcription)
    // The provider may begin responses by itself, even if the change turned this off.
    const respondsToSpeech = others.respondsToSpeech === true || confirmed.respondsToSpeech
    if (terms && isRelayError(terms)) return terms
    const limit = outputTokensMax === undefined ? undefined : this.limitOf({ outputTokensMax })
    const named = { ...others, outputTokensMax: limit, respondsToSpeech, transcription: terms }
    this.settings.note(definedSettings(named))
    this.applySettings()
    return null
  }

  /**
   * Records an event of the provider about input audio. Returns the error with which the session
   * must end, or null.
   */
  noteAudio(event: ServerEvent): RelayError | null {
    const { type, item_id } = event
    const { calls, transcription, transcripts } = this
    if (TRANSCRIPT_TEXTS.has(type)) return transcription.noteText(event) ?? transcripts.check(event)
    if (TURNS.test(type)) calls.audio.noteSpeech(event)
    if (type === 'input_audio_buffer.cleared') calls.audio.noteCleared()
    if (type !== 'input_audio_buffer.committed') return null
    const id = typeof item_id === 'string' ? item_id : ''
    const committed = calls.audio.noteCommitted(id)
    if (committed.position === null && calls.respondsToSpeech) calls.isTurnUnanswered = true
    calls.input.addAudio(committed.bytes)
    return transcription.noteCommitted(item_id, committed)
  }

  /**
   * Records that the provider confirmed the oldest change of the settings. `isOwn` is true if the
   * gateway made this change, and false if the caller did. `error` is the error with which the
   * session must end, or null.
   */
  noteUpdated(session: unknown): { readonly isOwn: boolean; readonly error: RelayError | null } {
    const update = this.settings.confirm()
    const error = this.noteDescribed(session)
    this.transcription.adapt()
    return { isOwn: update?.isOwn === true, error }
  }

  /**
   * Records that the provider refused an event. Returns true if the event was a change of the
   * settings by the gateway.
   */
  noteRefused(eventId: unknown): boolean {
    this.calls.noteRefused(eventId)
    this.calls.audio.noteRefused(eventId)
    const refused = this.settings.refuse(eventId)
    if (refused === undefined) return false
    this.applySettings()
    this.transcription.adapt()
    return refused.isOwn
  }
}

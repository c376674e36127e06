import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { accessError } from '../pipeline/plan-call.ts'
import { screenPrompt } from '../screening/word-screening.ts'
import { InputTranscription, type TranscriptionModel } from './calls-of-input-transcription.ts'
import type { SessionCalls } from './calls-of-responses.ts'
import { priceFor } from './open-upstream.ts'
import type { ClientEvent } from './read-client-event.ts'
import type { CallContext } from './realtime-call.ts'
import type { SessionSettings } from './session-settings.ts'
import { type Content, NO_CONTENT, textContent } from './size-of-conversation-items.ts'

/** The output limit of a model without a known limit, which OpenAI documents as its maximum. */
const OUTPUT_TOKENS = 4_096
/** The number of events whose ids are kept, because an error may name them. */
const IDS_MAX = 64

type Link = {
  readonly context: CallContext
  readonly model: string
  readonly isBeta: boolean
  /** Sends an event to the provider. Resolves when the provider's connection accepts more. */
  readonly send: (body: object) => Promise<void>
  /** Sends the caller an error for a refused event. */
  readonly refuse: (error: RelayError, eventId: string | null) => void
}

/** A change of the session's settings that the provider has not yet confirmed. */
type Update = {
  readonly eventId: string
  readonly isOwn: boolean
  readonly outputTokensMax: number
  readonly respondsToSpeech: boolean
}

/**
 * Passes the caller's events to the provider. An event with which a response may begin is sent only
 * if a call covers that response. `pass` returns the error with which the session must end, or
 * null.
 */
export class ClientGate {
  readonly transcription: InputTranscription
  /** The output limit of responses that the provider begins on its own. */
  outputTokensMax: number
  /**
   * True once the provider may begin a response by itself, because audio was sent or because
   * silence may begin a response.
   */
  private mayHearSpeech = false
  private readonly outputCap: number | null
  private readonly updates: Update[] = []
  /** The callers' ids of the last events, by the ids with which they were sent. */
  private readonly callersIds = new Map<string, string | null>()
  private readonly calls: SessionCalls
  private readonly link: Link

  constructor(link: Link, calls: SessionCalls) {
    this.link = link
    this.calls = calls
    const { deps } = link.context
    this.outputCap = deps.views.options.options.outputCaps.get(link.model) ?? null
    this.outputTokensMax = this.outputCap ?? OUTPUT_TOKENS
    this.transcription = new InputTranscription(link.context)
  }

  /**
   * Sends the settings with which a session begins. Returns false if there are none, and an error
   * if they are refused. `settings` are those of a temporary key.
   */
  async begin(settings: SessionSettings | null): Promise<boolean | RelayError> {
    if (settings === null && this.outputCap !== null) return false
    const error = settings === null ? null : await this.setTranscription(settings)
    if (error !== null) return error
    if (settings?.respondsToSilence === true) this.mayHearSpeech = true
    await this.sendOwnUpdate(settings?.outputTokensMax ?? this.outputTokensMax, settings)
    return true
  }

  /**
   * Returns the id that the caller gave to an event, by the id with which it was sent on. Returns
   * null if the caller gave none.
   */
  callersIdOf(sentId: unknown): string | null {
    return this.callersIds.get(String(sentId)) ?? null
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
    // A limit of calls refuses one event. The session may go on later.
    this.link.refuse(uncovered, event.id)
    return null
  }

  private async passCovered(event: ClientEvent): Promise<RelayError | null> {
    if (event.type === 'session.update') return this.passUpdate(event)
    if (event.type === 'response.create') return this.passRequest(event)
    const { calls, transcription } = this
    const isSpeech = event.type.startsWith('input_audio_buffer.')
    const audioBytes = isSpeech ? event.content.audioBytes : 0
    if (isSpeech) {
      const uncovered = await transcription.cover(audioBytes, calls.input.rate)
      if (uncovered !== null) {
        transcription.takeBack(audioBytes)
        return uncovered
      }
      this.mayHearSpeech = true
    }
    const send = () => {
      calls.input.add(event.content)
      return this.link.send(event.body)
    }
    const error = this.mayRespond ? await this.coverSpeech(event.content, send) : await send()
    if (!error) return null
    transcription.takeBack(audioBytes)
    return error
  }

  /** True if the provider may begin a response on its own. */
  get mayRespond(): boolean {
    return this.calls.respondsToSpeech && this.mayHearSpeech
  }

  private screen({ type, content, body }: ClientEvent): Promise<RelayError | null> | null {
    if (content.textBytes === 0) return null
    const { deps, caller } = this.link.context
    const { screening } = deps.views.options.options
    const param = type === 'conversation.item.create' ? 'item' : type.split('.')[0]
    // Audio in base64 is not text.
    const text = JSON.stringify(body, (name, value) =>
      name === 'audio' && typeof value === 'string' ? '' : value,
    )
    return screenPrompt(screening, caller.group, Buffer.from(text), param)
  }

  /**
   * Admits the call of a response that the provider may begin on its own. Sends the event only
   * then.
   */
  coverSpeech(
    more: Content = NO_CONTENT,
    send: () => Promise<void> = async () => {},
  ): Promise<RelayError | null> {
    const most = this.outputTokensMax
    return this.calls.cover(most, more, async (covered) => {
      if (covered < most) await this.sendOwnUpdate(covered, null)
      await send()
    })
  }

  private passRequest(event: ClientEvent): Promise<RelayError | null> {
    const { calls } = this
    const cap = this.outputCap ?? Number.POSITIVE_INFINITY
    const requested = Math.min(event.outputTokensMax ?? this.outputTokensMax, cap)
    const most = calls.respondsToSpeech ? Math.max(requested, this.outputTokensMax) : requested
    return calls.cover(most, event.content, async (covered) => {
      const { response } = event.body as { readonly response?: Record<string, unknown> }
      const isLimited = covered < requested || event.outputTokensMax !== null
      const limit = Math.min(covered, requested)
      const { max_output_tokens: _, max_response_output_tokens: __, ...others } = response ?? {}
      const isOutside = response?.conversation === 'none' || Array.isArray(response?.input)
      calls.noteRequest(event.sentId, !isOutside)
      const limited = { ...event.body, response: { ...others, [this.limitName]: limit } }
      await this.link.send(isLimited ? limited : event.body)
    })
  }

  private async passUpdate({
    id,
    sentId,
    body,
    settings,
  }: ClientEvent): Promise<RelayError | null> {
    if (settings === null) return null
    const error = await this.setTranscription(settings)
    if (error !== null) {
      this.link.refuse(error, id)
      return null
    }
    if (settings.respondsToSilence) this.mayHearSpeech = true
    const { calls } = this
    const isSpeech = calls.respondsToSpeech || settings.respondsToSpeech === true
    if (!isSpeech || !this.mayHearSpeech) {
      await this.sendUpdate(sentId, body, settings, false)
      return null
    }
    // Audio that was sent before may begin a response as soon as the settings apply.
    const most = Math.max(this.outputTokensMax, this.limitOf(settings))
    return calls.cover(most, textContent(settings.session), (covered) =>
      covered === most
        ? this.sendUpdate(sentId, body, settings, false)
        : this.sendUpdate(sentId, body, { ...settings, outputTokensMax: covered }, false, true),
    )
  }

  /** Returns the output limit that the settings ask for, or the current one. */
  private limitOf({ outputTokensMax: limit }: SessionSettings): number {
    const requested = limit === null ? (this.outputCap ?? OUTPUT_TOKENS) : limit
    return Math.min(requested ?? this.outputTokensMax, this.outputCap ?? Number.POSITIVE_INFINITY)
  }

  /** Sends a change of the settings. Its output limit is at most the model's own. */
  private async sendUpdate(
    eventId: string,
    body: object,
    settings: SessionSettings,
    isOwn: boolean,
    isLowered = isOwn,
  ): Promise<void> {
    const { calls } = this
    if (settings.isNarrow === true) calls.input.rate = 'narrow'
    calls.input.add(textContent(settings.session))
    const { outputTokensMax: limit } = settings
    const outputTokensMax = this.limitOf(settings)
    const respondsToSpeech = settings.respondsToSpeech ?? this.latest.respondsToSpeech
    this.updates.push({ eventId, isOwn, outputTokensMax, respondsToSpeech })
    // Until the provider confirms the change, the more expensive settings may apply. The gateway
    // lowers the limit only when no more can be paid.
    const earlier = isLowered ? 0 : this.outputTokensMax
    this.outputTokensMax = Math.max(earlier, outputTokensMax)
    calls.respondsToSpeech ||= respondsToSpeech
    const { max_output_tokens: _, max_response_output_tokens: __, ...others } = settings.session
    const limited = { ...others, [this.limitName]: outputTokensMax }
    const session = limit === undefined ? others : limited
    await this.link.send({ ...body, session })
  }

  private get limitName(): string {
    return this.link.isBeta ? 'max_response_output_tokens' : 'max_output_tokens'
  }

  private get latest(): Pick<Update, 'outputTokensMax' | 'respondsToSpeech'> {
    const { respondsToSpeech } = this.calls
    return this.updates.at(-1) ?? { outputTokensMax: this.outputTokensMax, respondsToSpeech }
  }

  private async sendOwnUpdate(limit: number, from: SessionSettings | null): Promise<void> {
    const type = this.link.isBeta ? {} : { type: 'realtime' }
    const settings = {
      ...{ respondsToSpeech: undefined, transcriptionModel: undefined, isNarrow: undefined },
      respondsToSilence: false,
      ...{ ...from, session: { ...from?.session, ...type }, outputTokensMax: limit },
    }
    const id = `event_${newCallId(Date.now())}`
    await this.sendUpdate(id, { type: 'session.update', event_id: id }, settings, true)
  }

  private async setTranscription(settings: SessionSettings): Promise<RelayError | null> {
    const { transcriptionModel: name } = settings
    if (name === undefined) return null
    const { rate } = this.calls.input
    if (name === null) return this.transcription.change(null, rate)
    const { deps, caller } = this.link.context
    const error = accessError(caller, deps.views.options.options, { model: name })
    if (error !== null) return error
    const price = priceFor(deps.views, caller, name)
    const model: TranscriptionModel | RelayError = 'code' in price ? price : { name, price }
    return isRelayError(model) ? model : this.transcription.change(model, rate)
  }

  /**
   * Records that the provider confirmed the oldest change. Returns true if the gateway made the
   * change, and false for a change by the caller.
   */
  noteUpdated(): boolean {
    const update = this.updates.shift()
    if (update === undefined) return false
    if (this.updates.length === 0) {
      this.outputTokensMax = update.outputTokensMax
      this.calls.respondsToSpeech = update.respondsToSpeech
    }
    return update.isOwn
  }

  /**
   * Records that the provider refused an event. Returns true if the event was a change by the
   * gateway.
   */
  noteRefused(eventId: unknown): boolean {
    this.calls.noteRefused(eventId)
    const at = this.updates.findIndex((update) => update.eventId === eventId)
    const [refused] = at < 0 ? [] : this.updates.splice(at, 1)
    return refused?.isOwn === true
  }
}

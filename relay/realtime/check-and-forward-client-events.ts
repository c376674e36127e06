import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { accessError } from '../pipeline/plan-call.ts'
import { screenPrompt } from '../screening/word-screening.ts'
import {
  InputTranscriptionBilling,
  type TranscriptionModel,
} from './input-transcription-billing.ts'
import { priceFor } from './open-upstream.ts'
import type { ClientEvent } from './read-client-event.ts'
import type { CallContext } from './realtime-call.ts'
import type { ResponseBilling } from './response-billing.ts'
import { respondsToSpeechIn, type SessionSettings } from './session-settings.ts'
import { type Content, NO_CONTENT, textContent } from './size-of-conversation-items.ts'

/**
 * The output limit in tokens of a model whose limit is not known. OpenAI documents it as the
 * maximum.
 */
const OUTPUT_TOKENS = 4_096
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
 * A change of the session's settings that was sent and that the provider has not yet confirmed.
 * `isOwn` is true if the gateway made the change and not the caller.
 */
type Update = {
  readonly eventId: string
  readonly isOwn: boolean
  readonly outputTokensMax: number
  readonly respondsToSpeech: boolean
  /** Undoes the change of the transcription model, if the update contains one. */
  readonly undo: () => void
}

type UpdateOptions = {
  readonly isOwn?: boolean
  readonly isLowered?: boolean
  readonly undo?: () => void
}

const NOTHING_TO_UNDO = (): void => {}

/**
 * Checks the caller's events and sends them to the provider. An event that may begin a response is
 * sent only if quota is reserved for this response. `pass` returns the error with which the session
 * must end, or null.
 */
export class ClientGate {
  readonly transcription: InputTranscriptionBilling
  /** The output limit in tokens of responses that the provider begins without a request. */
  outputTokensMax: number
  /**
   * True once the provider may hear speech or silence that begins a response: audio was sent, or
   * the settings let silence begin a response.
   */
  private mayHearSpeech = false
  private readonly outputCap: number | null
  private readonly updates: Update[] = []
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
    this.outputCap = deps.views.options.options.outputCaps.get(link.model) ?? null
    this.outputTokensMax = this.outputCap ?? OUTPUT_TOKENS
    this.transcription = new InputTranscriptionBilling(link.context)
  }

  /**
   * Sends the settings with which a session begins: the settings of the temporary key, if there is
   * one, and the output limit of the model. Returns true if settings were sent, false if there are
   * none, and an error if they are refused.
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
   * Returns the id that the caller gave to an event, or null if the caller gave none. `sentId` is
   * the id with which the event was sent to the provider.
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
    // If a limit of calls is reached, only this event is refused. The session continues.
    this.link.refuse(uncovered, event.id)
    return null
  }

  private async passCovered(event: ClientEvent): Promise<RelayError | null> {
    if (event.type === 'session.update') return this.passUpdate(event)
    if (event.type === 'response.create') return this.passRequest(event)
    const { calls, transcription } = this
    const isSpeech = event.type.startsWith('input_audio_buffer.')
    const isCommit = event.type === 'input_audio_buffer.commit'
    const full = isCommit ? transcription.checkCommit() : null
    if (full !== null) return full
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
      if (isCommit) transcription.noteCommit(event.sentId)
      return this.link.send(event.body)
    }
    const error = this.mayRespond ? await this.coverSpeech(event.content, send) : await send()
    if (!error) return null
    transcription.takeBack(audioBytes)
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
    more: Content = NO_CONTENT,
    send: () => Promise<void> = async () => {},
  ): Promise<RelayError | null> {
    const most = this.outputTokensMax
    return this.calls.cover(most, more, {
      isRequest: false,
      send: async (covered) => {
        if (covered < most) await this.sendOwnUpdate(covered, null)
        await send()
      },
    })
  }

  private passRequest(event: ClientEvent): Promise<RelayError | null> {
    const { calls } = this
    const cap = this.outputCap ?? Number.POSITIVE_INFINITY
    const requested = Math.min(event.outputTokensMax ?? this.outputTokensMax, cap)
    const most = calls.respondsToSpeech ? Math.max(requested, this.outputTokensMax) : requested
    const send = async (covered: number) => {
      const { response } = event.body as { readonly response?: Record<string, unknown> }
      const isLimited = covered < requested || event.outputTokensMax !== null
      const limit = Math.min(covered, requested)
      const { max_output_tokens: _, max_response_output_tokens: __, ...others } = response ?? {}
      const isOutside = response?.conversation === 'none' || Array.isArray(response?.input)
      calls.noteRequest(event.sentId, !isOutside, event.outputRate)
      const limited = { ...event.body, response: { ...others, [this.limitName]: limit } }
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
    const { model: earlier } = this.transcription
    const error = await this.setTranscription(settings)
    if (error !== null) {
      this.link.refuse(error, id)
      return null
    }
    const { model: changed } = this.transcription
    const undo =
      settings.transcriptionModel === undefined
        ? NOTHING_TO_UNDO
        : () => this.transcription.restore(earlier, changed, this.calls.input.rate)
    if (settings.respondsToSilence) this.mayHearSpeech = true
    const { calls } = this
    const isSpeech = calls.respondsToSpeech || settings.respondsToSpeech === true
    if (!isSpeech || !this.mayHearSpeech) {
      await this.sendUpdate(sentId, body, settings, { undo })
      return null
    }
    // Audio that was sent before may begin a response as soon as the new settings apply.
    const most = Math.max(this.outputTokensMax, this.limitOf(settings))
    const send = (covered: number) => {
      const isLowered = covered !== most
      const sent = isLowered ? { ...settings, outputTokensMax: covered } : settings
      return this.sendUpdate(sentId, body, sent, { undo, isLowered })
    }
    const text = textContent(settings.session)
    const uncovered = await calls.cover(most, text, { isRequest: false, send })
    // The provider does not get a change that is not covered.
    if (uncovered !== null) undo()
    return uncovered
  }

  /**
   * Returns the output limit in tokens that the settings request, or else the current limit. It is
   * at most the limit of the model.
   */
  private limitOf({ outputTokensMax: limit }: SessionSettings): number {
    const requested = limit === null ? (this.outputCap ?? OUTPUT_TOKENS) : limit
    return Math.min(requested ?? this.outputTokensMax, this.outputCap ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Sends a change of the session's settings to the provider. The output limit in it is at most the
   * limit of the model. `isLowered` is true if the gateway lowers the limit because the account
   * can't pay for more.
   */
  private async sendUpdate(
    eventId: string,
    body: object,
    settings: SessionSettings,
    options: UpdateOptions,
  ): Promise<void> {
    const { isOwn = false, isLowered = isOwn, undo = NOTHING_TO_UNDO } = options
    const { calls } = this
    // Audio of the earlier format may still arrive, so the format with more tokens is assumed.
    calls.input.rate = Math.min(calls.input.rate, settings.inputRate ?? calls.input.rate)
    calls.outputRate = Math.min(calls.outputRate, settings.outputRate ?? calls.outputRate)
    calls.input.add(textContent(settings.session))
    const { outputTokensMax: limit } = settings
    const outputTokensMax = this.limitOf(settings)
    const respondsToSpeech = settings.respondsToSpeech ?? this.latest.respondsToSpeech
    this.updates.push({ eventId, isOwn, outputTokensMax, respondsToSpeech, undo })
    // Until the provider confirms the change, either the old or the new settings may apply. The
    // more expensive ones are assumed, except if the account can't pay for the old limit.
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
      ...{ respondsToSpeech: undefined, transcriptionModel: undefined },
      ...{ inputRate: undefined, outputRate: undefined },
      respondsToSilence: false,
      ...{ ...from, session: { ...from?.session, ...type }, outputTokensMax: limit },
    }
    const id = `event_${newCallId(Date.now())}`
    await this.sendUpdate(id, { type: 'session.update', event_id: id }, settings, { isOwn: true })
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
   * Records that the provider confirmed the oldest change of the settings. Returns true if the
   * gateway made this change, and false if the caller did. If the provider begins responses by
   * itself although the change says otherwise, its description of the session applies.
   */
  noteUpdated(session: unknown): boolean {
    const update = this.updates.shift()
    const isEffective = respondsToSpeechIn(session) === true
    if (isEffective) this.calls.respondsToSpeech = true
    if (update === undefined) return false
    if (this.updates.length === 0) {
      this.outputTokensMax = update.outputTokensMax
      this.calls.respondsToSpeech = update.respondsToSpeech || isEffective
    }
    return update.isOwn
  }

  /**
   * Records that the provider refused an event. Returns true if the event was a change of the
   * settings by the gateway.
   */
  noteRefused(eventId: unknown): boolean {
    this.calls.noteRefused(eventId)
    this.transcription.noteRefused(eventId)
    const at = this.updates.findIndex((update) => update.eventId === eventId)
    const [refused] = at < 0 ? [] : this.updates.splice(at, 1)
    refused?.undo()
    return refused?.isOwn === true
  }
}

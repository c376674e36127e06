import type { WebSocket } from 'ws'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AccessCheck } from '../pipeline/access-check-of-running-calls.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { errorOfException } from '../pipeline/error-of-exception.ts'
import { confidentialTo } from '../views/channel-view.ts'
import type { CallContext } from './call-of-session.ts'
import { ClientEventGate } from './check-and-forward-client-events.ts'
import { closeCodeOf, isProviderFault, sessionErrorEvent } from './errors-of-session.ts'
import { UnchargedResponses } from './find-events-of-uncharged-responses.ts'
import type { Upstream } from './plan-and-connect-session.ts'
import {
  idOf,
  readServerEvent,
  type ServerEvent,
  visibleError,
  visibleResponse,
  visibleSession,
} from './read-and-redact-provider-event.ts'
import { readClientEvent } from './read-client-event.ts'
import { ResponseBilling } from './response-billing.ts'
import { TRANSCRIPTION } from './screen-transcripts.ts'
import { sendMessage, WAITING_BYTES_MAX } from './send-message.ts'
import type { SessionSettings } from './session-settings.ts'

export type SessionOptions = {
  readonly context: CallContext
  readonly client: WebSocket
  readonly upstream: Upstream
  /** The caller's name for the model. */
  readonly model: string
  readonly isBeta: boolean
  /** The id of the request that opened the session. */
  readonly call: string
  /** The settings in the temporary key that opened the session; null for another key. */
  readonly settings: SessionSettings | null
  /** Checks whether the caller still has access. */
  readonly access: AccessCheck
  /** Is called with the number of bytes of the caller's events that wait to be handled. */
  readonly onQueued: (bytes: number) => void
}

/**
 * One session between a caller and a provider. The events of each side are handled one after
 * another. The caller gets the last event of a response only when the charge is durable.
 */
export class RealtimeSession {
  /** Resolves when all calls of the session have ended. */
  readonly ended: Promise<void>
  isDraining = false
  private resolveEnded: () => void = () => {}
  private readonly options: SessionOptions
  private readonly calls: ResponseBilling
  private readonly uncharged = new UnchargedResponses((id) => this.calls.running.isCharged(id))
  private readonly gate: ClientEventGate
  private readonly confidential: readonly string[]
  private readonly inbox: Buffer[] = []
  private readonly queue: Buffer[] = []
  private queuedBytes = 0
  private isReading = false
  private isPassing = false
  private isReady = false
  private isEnding = false
  /** The provider's first event, until it is sent to the caller. */
  private created: ServerEvent | null = null
  private readonly openedAt = performance.now()
  private accessCheckedAt = performance.now()
  private providerActiveAt = performance.now()
  /** The time (`performance.now()`) at which the caller stopped reading; 0 while it reads. */
  private unreadSince = 0
  private onIdle: (() => void) | null = null

  constructor(options: SessionOptions) {
    this.options = options
    const { context, model, isBeta, upstream, client } = options
    const { socket, channel, upstreamModel } = upstream
    this.confidential = [
      ...confidentialTo(channel),
      ...(upstreamModel === null ? [] : [upstreamModel]),
    ]
    this.calls = new ResponseBilling(context, { name: model, upstream: upstreamModel })
    const send = (body: object) => this.send(body)
    const refuse = (error: RelayError, id: string | null) => void this.showError(error, id)
    this.gate = new ClientEventGate({ context, model, isBeta, send, refuse }, this.calls)
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve
    })
    socket.on('message', (data) => {
      this.providerActiveAt = performance.now()
      this.inbox.push(data as Buffer)
      void this.read()
    })
    socket.on('close', () => {
      this.onIdle?.()
      void this.end(relayError('upstream_incomplete'), false)
    })
    client.on('close', () => void this.end(null, true))
    socket.resume()
    // The provider or the caller may have disconnected before the listeners existed.
    if (socket.readyState !== socket.OPEN) void this.end(relayError('upstream_incomplete'), false)
    else if (client.readyState !== client.OPEN) void this.end(null, true)
  }

  get isBusy(): boolean {
    return this.calls.isBusy
  }

  /** Receives an event of the caller. */
  receive(data: Buffer): void {
    if (this.isEnding) return
    this.queue.push(data)
    this.noteQueued(data.length)
    void this.passQueued()
  }

  private noteQueued(bytes: number): void {
    this.queuedBytes = Math.max(0, this.queuedBytes + bytes)
    this.options.onQueued(this.queuedBytes)
    if (this.queuedBytes > WAITING_BYTES_MAX) this.options.client.pause()
    else this.options.client.resume()
  }

  /** Renews leases. Ends the session if access is lost, or if a side does not respond in time. */
  watch(now: number): void {
    const { calls, gate } = this
    calls.watch(now)
    gate.transcription.watch(now)
    const { writeStallMs, accessCheckMs } = this.options.context.deps.deadlines
    if (this.unreadSince > 0 && now - this.unreadSince > writeStallMs) {
      this.options.client.terminate()
    }
    if (this.isEnding || now - this.accessCheckedAt < accessCheckMs) return
    this.accessCheckedAt = now
    // A paused connection reports its end only when something is sent.
    if (this.options.client.isPaused) this.options.client.ping()
    if (this.isProviderLate(now)) return void this.end(relayError('upstream_timeout'), false)
    const error = this.options.access() ?? calls.accessError() ?? gate.transcription.accessError()
    if (error !== null) void this.end(error, true)
  }

  /**
   * Reports whether the provider is late: it has not begun the session or a response in time, or it
   * has stopped sending.
   */
  private isProviderLate(now: number): boolean {
    const { firstEventMs, idleMs } = this.options.context.deps.deadlines
    const { requestedAt, isBusy } = this.calls
    const waitingSince = this.isReady ? requestedAt : this.openedAt
    if (waitingSince !== null && now - waitingSince > firstEventMs) return true
    const isRead = !this.options.upstream.socket.isPaused
    return isBusy && isRead && now - this.providerActiveAt > Math.max(idleMs, firstEventMs)
  }

  private async passQueued(): Promise<void> {
    if (this.isPassing) return
    this.isPassing = true
    try {
      while (this.isReady && !this.isEnding) {
        const [data] = this.queue
        if (data === undefined) break
        const event = readClientEvent(data, this.options.model)
        // The call of the next response can be admitted only when the requested response has begun.
        const isRequest = 'type' in event && event.type === 'response.create'
        if (isRequest && this.calls.isRequestPending) break
        this.queue.shift()
        if ('error' in event) await this.showError(event.error, event.id)
        else {
          const error = await this.gate.pass(event)
          if (error !== null) void this.end(error, true)
        }
        this.noteQueued(-data.length)
      }
    } catch (err) {
      this.fail(err)
    } finally {
      this.isPassing = false
    }
  }

  /** Handles the provider's events in order. Pauses the connection while a handler waits. */
  private async read(): Promise<void> {
    if (this.isReading) return
    this.isReading = true
    const { socket } = this.options.upstream
    try {
      for (let data = this.inbox.shift(); data !== undefined; data = this.inbox.shift()) {
        const event = readServerEvent(data)
        if (event === null) continue
        const handling = this.handle(event, data)
        if (handling === undefined) continue
        socket.pause()
        await handling
      }
    } catch (err) {
      this.fail(err)
    } finally {
      this.isReading = false
      socket.resume()
    }
  }

  private handle(event: ServerEvent, data: Buffer): Promise<void> | undefined {
    const { type } = event
    if (type === 'session.created') return this.handleCreated(event)
    if (type === 'session.updated') return this.handleUpdated(event)
    if (type === 'response.created') return this.handleBegun(event, data)
    if (type === 'response.done') return this.handleDone(event, data)
    if (type === 'error') return this.handleError(event)
    if (this.uncharged.hasEvent(event)) return undefined
    if (type === 'rate_limits.updated') {
      const { showsRateLimits } = this.options.upstream.channel.rules
      return showsRateLimits ? this.show(data) : undefined
    }
    const isDelta = type.startsWith('response.') && type.endsWith('.delta')
    const stop = isDelta ? this.calls.running.noteDelta(event) : null
    if (stop !== null) return void this.end(stop, !isProviderFault(stop))
    const error = this.gate.noteAudio(event)
    if (error !== null) return void this.end(error, !isProviderFault(error))
    if (type === `${TRANSCRIPTION}.failed`) {
      this.gate.transcription.noteFailed(event.item_id)
      this.noteIdle()
      return this.showEvent(visibleError(event, this.confidential, this.options.call))
    }
    if (type === `${TRANSCRIPTION}.completed`) return this.handleTranscription(event, data)
    return this.show(data)
  }

  private async handleCreated(event: ServerEvent): Promise<void> {
    if (this.isReady || this.created !== null) return
    this.created = event
    this.calls.noteSession(event.session)
    const hasSentSettings = await this.gate.begin(event.session, this.options.settings)
    if (typeof hasSentSettings !== 'boolean') return void this.end(hasSentSettings, true)
    if (!hasSentSettings) await this.showCreated(event.session)
  }

  /** Sends the session's first event to the caller, and begins to handle the caller's events. */
  private async showCreated(session: unknown): Promise<void> {
    const { created } = this
    this.created = null
    this.isReady = true
    await this.showEvent({ ...created, session: visibleSession(session, this.options.model) })
    void this.passQueued()
  }

  private async handleUpdated(event: ServerEvent): Promise<void> {
    const { isOwn, error } = this.gate.noteUpdated(event.session)
    if (error !== null) return void this.end(error, true)
    if (this.created !== null) return this.showCreated(event.session)
    if (isOwn) return
    await this.showEvent({ ...event, session: visibleSession(event.session, this.options.model) })
  }

  private async handleBegun(event: ServerEvent, data: Buffer): Promise<void> {
    const error = await this.calls.begin(event, this.gate.outputTokensMax)
    const isEnd = error !== null && !isLimitError(error)
    if (isEnd) return void this.end(error, !isProviderFault(error))
    const isHidden = this.isEnding || this.uncharged.hasEvent(event)
    if (!isHidden) await this.show(data)
    if (error !== null) await this.showError(error)
    if (isHidden || error !== null) this.cancel(idOf(event.response))
    void this.passQueued()
  }

  private async handleDone(event: ServerEvent, data: Buffer): Promise<void> {
    const isSettled = await this.calls.settle(event, this.gate.outputTokensMax, data)
    if (isSettled === false) return void this.end(NO_STORE, false)
    const visibleEvent = visibleResponse(event, this.confidential, this.options.call)
    if (isSettled === true && !this.uncharged.hasEvent(event)) await this.showEvent(visibleEvent)
    this.noteIdle()
    if (this.isEnding) return
    if (this.isDraining && !this.calls.isBusy) return void this.end(relayError('draining'), true)
    await this.coverSpeech()
  }

  /**
   * Reserves quota for the next response that speech may begin, and then handles waiting events.
   */
  private async coverSpeech(): Promise<void> {
    const unpaid = this.gate.mayRespond ? await this.gate.coverSpeech() : null
    if (unpaid !== null && !isLimitError(unpaid)) return void this.end(unpaid, true)
    void this.passQueued()
  }

  private async handleTranscription(event: ServerEvent, data: Buffer): Promise<void> {
    const { isShown, error } = await this.gate.transcription.noteCompleted(event)
    const stop = error ?? this.gate.transcripts.check(event)
    if (isShown && stop?.code !== 'sensitive_answer') await this.show(data)
    this.noteIdle()
    if (stop !== null) void this.end(stop, true)
  }

  private async handleError(event: ServerEvent): Promise<void> {
    const { error } = event
    const { event_id } = (error ?? {}) as { readonly event_id?: unknown }
    const isOwn = this.gate.noteRefused(event_id)
    const { confidential, options, gate } = this
    const visibleEvent = visibleError(event, confidential, options.call, gate.callersIdOf(event_id))
    await this.showEvent(visibleEvent)
    // Without the gateway's settings, a response may have more output than its quota covers.
    if (isOwn || this.created !== null) return void this.end(relayError('upstream_error'), true)
    this.noteIdle()
    // The settings before a refused change may allow more output.
    if (!this.isEnding) await this.coverSpeech()
  }

  private send(body: object): Promise<void> {
    return sendMessage(this.options.upstream.socket, JSON.stringify(body)) ?? Promise.resolve()
  }

  private cancel(responseId: string): void {
    const id = responseId === '' ? {} : { response_id: responseId }
    void this.send({ type: 'response.cancel', ...id })
  }

  /**
   * Sends an event to the caller. If too many bytes wait to be sent, returns a promise that
   * resolves once the event is sent.
   */
  private show(data: Buffer | string): Promise<void> | undefined {
    const pending = sendMessage(
      this.options.client,
      typeof data === 'string' ? data : data.toString(),
    )
    if (pending === undefined) return undefined
    this.unreadSince = performance.now()
    return pending.then(() => {
      this.unreadSince = 0
    })
  }

  private async showEvent(event: object): Promise<void> {
    await this.show(JSON.stringify(event))
  }

  private async showError(error: RelayError, eventId: string | null = null): Promise<void> {
    const { context, call } = this.options
    await this.showEvent(sessionErrorEvent(error, context.openExchange(), call, eventId))
  }

  private fail(err: unknown): void {
    const { context, call } = this.options
    void this.end(errorOfException(context.deps.log, call, err), false)
  }

  /**
   * Ends the session and its calls. `isCallers` is false if the provider or the gateway failed.
   * Otherwise, running responses are cancelled. Their last events, which have the usage, are
   * awaited for a limited time, and so are transcriptions. Handlers of the provider's events must
   * not await this method, because the method waits for events that are read only after these
   * handlers have returned.
   */
  async end(error: RelayError | null, isCallers: boolean): Promise<void> {
    if (this.isEnding) return
    this.isEnding = true
    this.calls.endReason = error?.code
    const { client, upstream } = this.options
    const { socket, release } = upstream
    try {
      this.noteQueued(-this.queuedBytes)
      this.queue.length = 0
      if (error !== null) void this.showError(error)
      client.close(closeCodeOf(error), error?.code ?? '')
      if (isCallers && this.isExpecting && socket.readyState === socket.OPEN) {
        for (const id of this.calls.running.ids) this.cancel(id)
        await this.untilIdle()
      }
      await Promise.all([this.calls.end(isCallers), this.gate.transcription.end(error?.code)])
    } catch (err) {
      const { context, call } = this.options
      context.deps.log.error({ err, call }, 'the calls of a realtime session could not be ended')
    } finally {
      socket.terminate()
      release()
      this.resolveEnded()
    }
  }

  /** True while the session must not end, because the provider may still send a usage report. */
  private get isExpecting(): boolean {
    return this.isBusy || this.gate.transcription.isExpecting
  }

  private noteIdle(): void {
    if (!this.isExpecting) this.onIdle?.()
  }

  private untilIdle(): Promise<void> {
    const { lastUsageMs } = this.options.context.deps.deadlines
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, lastUsageMs)
      this.onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

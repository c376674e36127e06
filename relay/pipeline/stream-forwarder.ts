import { DeliveredText, hasText } from '#relay/canonical/delivered-text.ts'
import { eventData, SseScanner, type SseSink } from '#relay/canonical/sse-scanner.ts'
import { modelIn, withModel } from '../dialects/openai-chat/upstream-body.ts'
import { usageInEvent } from '../dialects/openai-chat/usage-in-answer.ts'
import type { AnswerScreen } from '../screening/screening.ts'
import { type Exchange, headersOf } from './exchange.ts'

/** How a provider's stream ended, as far as its bytes tell. */
export type StreamVerdict =
  | 'open'
  | 'done'
  | 'error'
  | 'overflow'
  | 'screened'
  | 'over-limit'
  | 'balance-spent'

/** The destination of a stream; `write` returns false when it does not keep up. */
export type ByteSink = { readonly write: (bytes: Buffer) => boolean }

/** The caller's connection, whose answer begins with the first bytes. */
export const byteSinkOf = (exchange: Exchange): ByteSink => ({
  write: (bytes) => {
    const { response } = exchange
    if (!response.headersSent) startStream(exchange)
    return response.write(bytes)
  },
})

/** After its caller left, so much of a stream is still read for its usage. */
const READ_ON_BYTES_MAX = 1024 * 1024
const FINISHED = /"finish_reason"\s*:\s*"/
/** The first events of a stream name its model, where any does. */
const MODEL_EVENTS_MAX = 8

/**
 * One provider's stream on its way to the caller: bytes pass as they come, the usage chunk is kept
 * for the bill (and from callers who did not ask), and from the end of the usage on everything is
 * held back until the ledger are closed. Nothing is written before the first real event, so that a
 * stream which fails at once can still be tried elsewhere.
 */
export class StreamForwarder implements SseSink {
  verdict: StreamVerdict = 'open'
  /** The provider's last usage, as sent; undefined when none came. */
  rawUsage: unknown
  /** The latest `model` that was looked for and found, as sent; undefined while there is none. */
  answeredModel: string | undefined
  /** Words were passed on after the last usage, which may leave them out. */
  isUsageEarly = false
  /** The provider's error event, when that ended the stream. */
  errorEvent: Buffer | null = null
  hasDelivered = false
  readonly delivered = new DeliveredText()
  private readonly scanner = new SseScanner(this)
  private readonly outlet: ByteSink
  private readonly wantsUsage: boolean
  private readonly onFirstByte: () => void
  private readonly shownModel: string | null
  private readonly screen: AnswerScreen | null
  private readonly onDelivered: () => void
  private held: Buffer[] = []
  /** The events that were passed on last. */
  private latest: readonly Buffer[] = []
  private isFlowing = true
  private modelLooksLeft = MODEL_EVENTS_MAX
  /** Bytes that may still be read once nobody takes them; null: somebody does. */
  private readOnBytes: number | null = null

  /**
   * `shownModel`: the caller's name of the model, where the provider has another. `screen`: looks
   * through what is said; what completes a word that it knows does not leave. `onDelivered` is
   * called whenever something was passed on; it may `endAt` or `pause` the stream.
   */
  constructor(
    outlet: ByteSink,
    wantsUsage: boolean,
    shownModel: string | null,
    onFirstByte: () => void,
    screen: AnswerScreen | null = null,
    onDelivered: () => void = () => {},
  ) {
    this.outlet = outlet
    this.wantsUsage = wantsUsage
    this.shownModel = shownModel
    this.onFirstByte = onFirstByte
    this.screen = screen
    this.onDelivered = onDelivered
  }

  /** True once the provider said why it ended: all that follows is its usage. */
  isFinished(): boolean {
    return this.latest.some((events) => FINISHED.test(events.toString('latin1')))
  }

  /** The caller left: what follows is read for its usage and goes nowhere. */
  readOn(): void {
    this.readOnBytes = READ_ON_BYTES_MAX
    this.held = []
  }

  /** Nothing more is passed on. */
  endAt(verdict: StreamVerdict): void {
    if (this.verdict === 'open') this.verdict = verdict
  }

  /** As if the caller did not keep up, until the attempt is resumed. */
  pause(): void {
    this.isFlowing = false
  }

  /** False when the caller does not keep up: pause until its connection drains. */
  push(chunk: Buffer): boolean {
    this.isFlowing = true
    this.scanner.push(chunk)
    if (this.verdict === 'open' && this.scanner.isOverflown) this.verdict = 'overflow'
    return this.isFlowing
  }

  pass(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    if (this.readOnBytes !== null) return this.skip(bytes)
    if (this.screen !== null && !this.screen.isClean(bytes)) {
      this.verdict = 'screened'
      return
    }
    this.letGo()
    this.write(bytes)
    this.delivered.add(bytes)
    this.notePassed(bytes)
    this.latest = [this.latest[1] ?? bytes, bytes]
    this.onDelivered()
  }

  marked(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    const event = parsedEvent(bytes)
    if (event === null) return this.pass(bytes)
    const { error, choices, model } = event
    const usage = usageInEvent(event)
    this.rawUsage = usage ?? this.rawUsage
    this.noteModel(model)
    const hasChoices = Array.isArray(choices) && choices.length > 0
    if (error !== undefined && error !== null && !hasChoices) {
      this.verdict = 'error'
      this.errorEvent = Buffer.from(eventData(bytes) ?? '')
      return
    }
    // A usage counts the words of its own event: these are not looked for.
    if (usage !== undefined) this.isUsageEarly = true
    if (hasChoices || !isOfUsage(event)) this.pass(bytes)
    else if (this.wantsUsage) this.hold(bytes)
    if (usage !== undefined) this.isUsageEarly = false
  }

  done(bytes: Buffer): void {
    if (this.verdict !== 'open') return
    this.verdict = 'done'
    this.held.push(bytes)
  }

  /** The bytes that may leave once the ledger are closed. */
  terminalBytes(): Buffer {
    const [first] = this.held
    const isOne = this.held.length === 1 && first !== undefined
    return this.shown(isOne ? first : Buffer.concat(this.held))
  }

  /**
   * At most one usage chunk is held back at a time, because a provider may send any number of them.
   * A chunk that another one follows does not end the stream, so it leaves; before anything was
   * delivered it is dropped instead, because a usage alone must not begin an answer.
   */
  private hold(usageChunk: Buffer): void {
    if (this.hasDelivered) this.letGo()
    this.held = [usageChunk]
  }

  private notePassed(bytes: Buffer): void {
    if (this.modelLooksLeft > 0) {
      this.modelLooksLeft -= 1
      this.noteModel(modelIn(bytes))
    }
    if (this.rawUsage !== undefined && !this.isUsageEarly) this.isUsageEarly = hasText(bytes)
  }

  /** Azure's first event has an empty name. */
  private noteModel(model: unknown): void {
    if (typeof model !== 'string' || model === '') return
    this.answeredModel = model
    this.modelLooksLeft = 0
  }

  private skip(bytes: Buffer): void {
    this.readOnBytes = (this.readOnBytes ?? 0) - bytes.length
    if (this.readOnBytes < 0) this.endAt('overflow')
  }

  private letGo(): void {
    if (this.held.length === 0) return
    const held = this.held
    this.held = []
    for (const bytes of held) this.write(bytes)
  }

  private write(bytes: Buffer): void {
    if (!this.hasDelivered) {
      this.hasDelivered = true
      this.onFirstByte()
    }
    if (!this.outlet.write(this.shown(bytes))) this.isFlowing = false
  }

  private shown(bytes: Buffer): Buffer {
    return this.shownModel === null ? bytes : withModel(bytes, this.shownModel)
  }
}

export function startStream({ response, call }: Exchange): void {
  response.writeHead(200, [
    ...headersOf(call),
    'Content-Type',
    'text/event-stream; charset=utf-8',
    'Cache-Control',
    'no-cache',
    'X-Accel-Buffering',
    'no',
  ])
}

/** The members of a chunk without choices that was sent only for the usage. */
const USAGE_CHUNK = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage'],
  ...['system_fingerprint', 'service_tier', 'obfuscation'],
])

/** NOTE: Azure sends what it filtered without choices, and may say of it that no usage came yet. */
const isOfUsage = (event: Event): boolean =>
  'usage' in event &&
  (event.usage !== null || Object.keys(event).every((key) => USAGE_CHUNK.has(key)))

type Event = {
  readonly usage?: unknown
  readonly error?: unknown
  readonly choices?: unknown
  readonly model?: unknown
}

function parsedEvent(bytes: Buffer): Event | null {
  const data = eventData(bytes)
  if (data === null) return null
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}

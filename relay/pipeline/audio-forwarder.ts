import { mp3FrameAt } from '../uploads/audio/mp3-frame.ts'
import type { AnswerForwarder, DeliveredAnswer } from './answer-forwarder-types.ts'
import type { ByteSink, StreamVerdict } from './stream-verdict.ts'

/** Matches the content types that are forwarded as audio. */
const TYPE = /^(?:audio\/[\w.+-]{1,64}|application\/octet-stream)(?=\s*(?:;|$))/i
/**
 * The number of bytes at the end of the audio that are held back until the bill is durable. This
 * number is small, so that audio plays without delay.
 */
const HELD_BYTES = 1_024
const NOTHING = Buffer.alloc(0)

/**
 * Forwards the audio of a provider to the caller while it arrives. The last bytes are held back
 * until the call is settled. The audio counts as complete only if the provider ends the response
 * properly.
 */
export class AudioForwarder implements AnswerForwarder {
  verdict: StreamVerdict = 'open'
  hasDelivered = false
  binaryType: string | null = null
  readonly rawUsage = undefined
  readonly answeredModel = undefined
  readonly serviceTier = undefined
  readonly hasTextAfterUsage = false
  readonly usageAnomaly = null
  readonly errorEvent = null
  readonly isEnding = false
  readonly delivered: DeliveredAudio
  private heldBack: Buffer = NOTHING
  private isFlowing = true
  private readonly sink: ByteSink
  private readonly onFirstByte: () => void
  private readonly onDelivered: () => void

  /**
   * `countsTokens` is true if the audio is billed by its tokens. `onDelivered` is called after each
   * write and may call `endWith` or `pause`.
   */
  constructor(
    sink: ByteSink,
    countsTokens: boolean,
    onFirstByte: () => void,
    onDelivered: () => void,
  ) {
    this.sink = sink
    this.delivered = new DeliveredAudio(countsTokens)
    this.onFirstByte = onFirstByte
    this.onDelivered = onDelivered
  }

  get hasBegun(): boolean {
    return this.hasDelivered
  }

  accepts(contentType: string): boolean {
    this.binaryType = TYPE.exec(contentType)?.[0].toLowerCase() ?? null
    return this.binaryType !== null
  }

  push(chunk: Buffer): boolean {
    this.isFlowing = true
    if (this.verdict !== 'open' || chunk.length === 0) return true
    const kept = Math.min(chunk.length, HELD_BYTES)
    const head = chunk.subarray(0, chunk.length - kept)
    if (head.length > 0) {
      this.write(this.heldBack)
      this.write(head)
      this.heldBack = Buffer.from(chunk.subarray(head.length))
    } else {
      const both = Buffer.concat([this.heldBack, chunk])
      const passed = Math.max(0, both.length - HELD_BYTES)
      this.write(both.subarray(0, passed))
      this.heldBack = both.subarray(passed)
    }
    this.delivered.add(chunk)
    this.onDelivered()
    return this.isFlowing
  }

  /**
   * Marks the audio as complete if the provider has ended the response properly (`isComplete`) and
   * the audio contains at least one byte. Otherwise, this method does nothing.
   */
  close(isComplete = false): void {
    if (this.verdict !== 'open' || !isComplete || this.delivered.bytes === 0) return
    this.verdict = 'done'
    if (!this.hasDelivered) this.onFirstByte()
  }

  terminalBytes(): Buffer {
    return this.heldBack
  }

  isFinished(): boolean {
    return false
  }

  /** Does nothing, because audio contains no usage (see `mustReadUsage`). */
  continueForUsage(): void {}

  endWith(verdict: StreamVerdict): void {
    if (this.verdict === 'open') this.verdict = verdict
  }

  pause(): void {
    this.isFlowing = false
  }

  private write(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (!this.hasDelivered) {
      this.hasDelivered = true
      this.onFirstByte()
    }
    if (!this.sink.write(bytes)) this.isFlowing = false
  }
}

/**
 * The number of AI tokens for one second of audio. OpenAI states two prices for speech: 1.5 cents
 * per minute, and a price per token at which 1 250 tokens cost 1.5 cents.
 */
const AUDIO_TOKENS_PER_SECOND = 1_250 / 60
/**
 * The bytes per second of raw audio, which consists of 16-bit samples at 24 kHz without a header.
 */
const RAW_RATE = 48_000
const MP3_RATE = 16_000
const OPUS_RATE = 6_000
const FLAC_RATE = 24_000

/** Counts the bytes of the delivered audio and estimates its tokens from its duration. */
class DeliveredAudio implements DeliveredAnswer {
  bytes = 0
  private bytesPerSecond = 0
  private readonly countsTokens: boolean

  constructor(countsTokens: boolean) {
    this.countsTokens = countsTokens
  }

  add(chunk: Buffer): void {
    if (this.bytes === 0) this.bytesPerSecond = bytesPerSecondOf(chunk)
    this.bytes += chunk.length
  }

  estimateTokens(): number {
    if (!this.countsTokens || this.bytes === 0) return 0
    return Math.ceil((this.bytes / this.bytesPerSecond) * AUDIO_TOKENS_PER_SECOND)
  }

  tokensUpperBound(): number {
    return this.estimateTokens()
  }

  read() {
    return { text: '', tokens: this.estimateTokens() }
  }

  toolUses(): undefined {
    return undefined
  }

  imageCount(): number {
    return 0
  }

  estimateImageTokens(): number {
    return 0
  }
}

/**
 * Estimates the bytes per second of audio from its first bytes. An unknown format counts as raw
 * audio.
 */
function bytesPerSecondOf(start: Buffer): number {
  const magic = start.toString('latin1', 0, 4)
  if (magic === 'OggS') return OPUS_RATE
  if (magic === 'fLaC') return FLAC_RATE
  if (magic.startsWith('ID3')) return MP3_RATE
  if (magic === 'RIFF' && start.length >= 32) {
    const rate = start.readUInt32LE(28)
    return rate >= 4_000 && rate <= 400_000 ? rate : RAW_RATE
  }
  const frame = mp3FrameAt(start, 0)
  if (frame !== null) return frame.bitsPerSecond / 8
  // AAC in ADTS begins with the same sync word as MP3, but its layer is 0.
  return start[0] === 0xff && ((start[1] ?? 0) & 0xf6) === 0xf0 ? MP3_RATE : RAW_RATE
}

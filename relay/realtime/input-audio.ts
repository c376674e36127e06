import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import { BYTES_PER_SECOND } from './realtime-usage.ts'
import type { SettingsPosition } from './settings-in-force.ts'

/** The maximum number of commits and clearings that the provider has not yet confirmed. */
const REQUESTS_MAX = 1_000
/** The maximum number of turns of speech that have begun and are not committed. */
const TURNS_MAX = 1_000
const PCM_BYTES_PER_MS = BYTES_PER_SECOND.pcm / 1_000

/** A commit or a clearing that was sent to the provider, and the audio that it concerns. */
type AudioRequest = {
  readonly kind: 'commit' | 'clear'
  readonly eventId: string
  bytes: number
  readonly position: SettingsPosition
}
/**
 * The start and the end of a turn of speech that the provider has detected, in bytes of audio since
 * the session began. `end` is null until the speech ends.
 */
type Turn = { readonly start: number; end: number | null }

/** Audio that became an item. `position` is null if the audio was not committed by the caller. */
export type CommittedAudio = { readonly bytes: number; readonly position: SettingsPosition | null }

/**
 * Returns the length of audio in bytes as if it were PCM of 24 kHz. `rate` is the audio's actual
 * number of bytes per second.
 */
export const pcmBytesOf = (bytes: number, rate: number): number =>
  (bytes * BYTES_PER_SECOND.pcm) / rate

/**
 * The input audio that was sent and is not yet part of an item of the conversation. All lengths are
 * in bytes of PCM of 24 kHz, regardless of the actual format, because the format may change.
 */
export class InputAudio {
  /** All audio that was sent since the session began. */
  private sent = 0
  /** The audio that was sent since the last commit or clearing of the caller. */
  private open = 0
  /** The caller's commits and clearings that the provider has not yet confirmed, oldest first. */
  private requests: AudioRequest[] = []
  private readonly turns = new Map<string, Turn>()

  append(bytes: number): void {
    this.sent += bytes
    this.open += bytes
  }

  /** Subtracts audio that could not be sent. */
  subtractUnsent(bytes: number): void {
    this.sent = Math.max(0, this.sent - bytes)
    this.open = Math.max(0, this.open - bytes)
  }

  /** Returns the error for the caller if no other commit or clearing can be sent, or null. */
  checkRequest(): RelayError | null {
    if (this.requests.length < REQUESTS_MAX) return null
    return relayError('too_many_concurrent', { subject: `${REQUESTS_MAX} commits (this session)` })
  }

  /**
   * Notes that a commit or a clearing is being sent. The request concerns all audio that was sent
   * before.
   */
  noteRequest(kind: AudioRequest['kind'], eventId: string, position: SettingsPosition): void {
    this.requests.push({ kind, eventId, bytes: this.open, position })
    this.open = 0
  }

  /**
   * Notes that the provider refused an event. If the event was a commit or a clearing, the provider
   * still has its audio.
   */
  noteRefused(eventId: unknown): void {
    const at = this.requests.findIndex((request) => request.eventId === eventId)
    const [refused] = at < 0 ? [] : this.requests.splice(at, 1)
    if (refused === undefined) return
    const next = this.requests[at]
    if (next === undefined) this.open += refused.bytes
    else next.bytes += refused.bytes
  }

  /** Notes that the provider has emptied its buffer. */
  noteCleared(): void {
    const at = this.requests.findIndex(({ kind }) => kind === 'clear')
    if (at >= 0) this.requests.splice(at, 1)
  }

  /**
   * Notes the beginning or the end of a turn of speech, or of a period of silence that becomes an
   * item.
   */
  noteSpeech({ item_id, audio_start_ms, audio_end_ms }: ServerEvent): void {
    if (typeof item_id !== 'string') return
    if (isTime(audio_start_ms) && !this.turns.has(item_id)) {
      const [oldest] = this.turns.keys()
      if (this.turns.size >= TURNS_MAX && oldest !== undefined) this.turns.delete(oldest)
      this.turns.set(item_id, { start: audio_start_ms * PCM_BYTES_PER_MS, end: null })
    }
    const turn = this.turns.get(item_id)
    if (turn !== undefined && isTime(audio_end_ms)) turn.end = audio_end_ms * PCM_BYTES_PER_MS
  }

  /**
   * Notes that audio has become an item. Returns the audio of the turn if speech detection has
   * committed the audio. Otherwise, returns the audio of the caller's oldest commit, or all audio
   * if the caller has sent no commit.
   */
  noteCommitted(itemId: string): CommittedAudio {
    const turn = this.turns.get(itemId)
    this.turns.delete(itemId)
    const at = this.requests.findIndex(({ kind }) => kind === 'commit')
    // A turn that has not ended can only be committed by the caller.
    if (turn !== undefined && (turn.end !== null || at < 0)) return this.commitTurn(turn)
    const [commit] = at < 0 ? [] : this.requests.splice(0, at + 1).slice(-1)
    if (commit !== undefined) return commit
    const bytes = this.pending
    this.consume(bytes)
    return { bytes, position: null }
  }

  /** Takes the audio of a turn of speech. The silence before the turn is not part of any item. */
  private commitTurn(turn: Turn): CommittedAudio {
    const end = Math.min(turn.end ?? this.sent, this.sent)
    this.consume(end - (this.sent - this.pending))
    return { bytes: Math.max(0, end - turn.start), position: null }
  }

  /** Removes the oldest audio. */
  private consume(bytes: number): void {
    let left = Math.max(0, bytes)
    for (const request of this.requests) {
      const taken = Math.min(left, request.bytes)
      request.bytes -= taken
      left -= taken
    }
    this.open = Math.max(0, this.open - left)
  }

  /** The audio that may still become part of items. */
  get pending(): number {
    return this.requests.reduce((sum, { bytes }) => sum + bytes, this.open)
  }

  /** The position before which all audio is part of items or was cleared. */
  get consumed(): number {
    return this.sent - this.pending
  }

  /** The unconfirmed commits whose audio ends after this position. */
  commitsAfter(position: number): readonly AudioRequest[] {
    let end = this.consumed
    return this.requests.filter(({ kind, bytes }) => {
      end += bytes
      return kind === 'commit' && end > position
    })
  }

  /**
   * Returns the position at which the next item after `position` ends. This is the end of the
   * oldest unconfirmed commit after `position` or, without such a commit, the end of all audio.
   */
  endOfNextItem(position: number): number {
    let end = this.consumed
    for (const { kind, bytes } of this.requests) {
      end += bytes
      if (kind === 'commit' && end > position) return end
    }
    return this.sent
  }

  /** The caller's commits that the provider has not confirmed. */
  get commits(): readonly AudioRequest[] {
    return this.requests.filter(({ kind }) => kind === 'commit')
  }

  /** The audio in the caller's commits that the provider has not confirmed. */
  get committed(): number {
    return this.commits.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Forgets all audio when the session has ended. */
  clear(): void {
    this.requests = []
    this.open = 0
  }
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

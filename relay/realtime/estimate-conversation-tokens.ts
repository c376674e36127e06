import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { type InputAudio, pcmBytesOf } from './input-audio.ts'
import { BYTES_PER_SECOND, outputAudioTokens } from './realtime-usage.ts'
import {
  type ContentSize,
  estimatedTokens,
  NO_CONTENT,
  tokensAtMost,
  withContent,
} from './size-of-conversation-items.ts'

type Tokens = { readonly text: number; readonly audio: number }

/**
 * Estimates the input tokens of the next response. The input of a response is the complete
 * conversation. The size of the conversation is the input and output that the provider reported for
 * the last response, plus the content that was added since then.
 */
export class ConversationInput {
  /** The number of bytes per second of audio, which determines the tokens per byte. */
  rate: number = BYTES_PER_SECOND.pcm
  private reported: Tokens = { text: 0, audio: 0 }
  /**
   * The content that was added and is not part of `reported`. The length of its audio is in bytes
   * of PCM of 24 kHz.
   */
  private added: ContentSize = NO_CONTENT
  private readonly audio: InputAudio

  /** `audio` is the input audio that is not yet part of the conversation. */
  constructor(audio: InputAudio) {
    this.audio = audio
  }

  add(content: ContentSize): void {
    const audioBytes = pcmBytesOf(content.audioBytes, this.rate)
    this.added = withContent(this.added, { ...content, audioBytes })
  }

  /** Adds audio that has become an item. `bytes` is its length as PCM of 24 kHz. */
  addAudio(bytes: number): void {
    this.added = withContent(this.added, { ...NO_CONTENT, audioBytes: bytes })
  }

  /**
   * The size of the content that was added so far, and of the audio in commits that the provider
   * has not confirmed. When a response that has read this content has ended, this value is passed
   * to `noteReport`, so that the content is not counted twice.
   */
  get mark(): ContentSize {
    const { committed } = this.audio
    return withContent(this.added, { ...NO_CONTENT, audioBytes: committed })
  }

  tokensAtMost(more: ContentSize = NO_CONTENT): number {
    const { text, audio } = this.reported
    const audioBytes = pcmBytesOf(more.audioBytes, this.rate) + this.audio.pending
    const all = withContent(this.added, { ...more, audioBytes })
    return text + audio + tokensAtMost(all, BYTES_PER_SECOND.pcm)
  }

  /**
   * Returns an estimate of the input of a response, for a response without a usage report. `more`
   * is the input that only this response reads.
   */
  estimate(more: ContentSize = NO_CONTENT): Usage {
    const audioBytes = pcmBytesOf(more.audioBytes, this.rate)
    const all = withContent(this.mark, { ...more, audioBytes })
    const { text, audio, image } = estimatedTokens(all, BYTES_PER_SECOND.pcm)
    return {
      ...NO_USAGE,
      inputUncached: this.reported.text + text,
      inputAudio: this.reported.audio + audio,
      inputImage: image,
    }
  }

  /**
   * Takes the size of the conversation from the reported usage of a response. `mark` is the size of
   * the added content that the response has read. The reported usage includes this content, so it
   * is subtracted from the added content and not counted twice.
   */
  noteReport(usage: Usage, mark: ContentSize): void {
    const { inputUncached, cacheRead, inputAudio, inputImage, output, outputAudio } = usage
    const text = inputUncached + cacheRead + inputImage + output - outputAudio
    this.reported = { text, audio: inputAudio + outputAudio }
    const { textBytes, audioBytes, pictures } = this.added
    this.added = {
      textBytes: Math.max(0, textBytes - mark.textBytes),
      audioBytes: Math.max(0, audioBytes - mark.audioBytes),
      pictures: Math.max(0, pictures - mark.pictures),
    }
  }

  /**
   * Adds the output of a response to the conversation. Called if the size of the conversation can't
   * be taken from the usage report of the response, for example because other responses are
   * running.
   */
  noteOutput({ output, outputAudio }: Usage): void {
    const { text, audio } = this.reported
    this.reported = { text: text + output - outputAudio, audio: audio + outputAudio }
  }
}

/** Reports whether events of this type contain audio in base64. */
export const isAudio = (type: string): boolean => /^response\.(?:output_)?audio\.delta$/.test(type)

/** Counts the output of a response that the provider has sent so far. */
export class DeliveredOutput {
  private textTokens = 0
  private audioBytes = 0

  /** Counts the content of an event whose type ends in `.delta`. */
  add(type: string, delta: unknown): void {
    if (typeof delta !== 'string') return
    if (isAudio(type)) {
      this.audioBytes += Math.floor((delta.length * 3) / 4)
    } else this.textTokens += estimateTokens(delta)
  }

  get isEmpty(): boolean {
    return this.textTokens === 0 && this.audioBytes === 0
  }

  /** Returns the usage so far. `rate` is the number of bytes per second of audio. */
  usage(rate: number): Pick<Usage, 'output' | 'outputAudio'> {
    const outputAudio = outputAudioTokens(this.audioBytes, rate)
    return { output: Math.ceil(this.textTokens) + outputAudio, outputAudio }
  }
}

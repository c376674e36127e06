import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { estimateTokens } from '../canonical/answer-text-for-token-count.ts'
import { AUDIO_BYTES_PER_TOKEN } from './realtime-usage.ts'
import {
  type Content,
  estimatedTokens,
  NO_CONTENT,
  tokensAtMost,
  withContent,
} from './size-of-conversation-items.ts'

type Tokens = { readonly text: number; readonly audio: number }

/**
 * Estimates the input of the next response. A response has the complete conversation as input. Its
 * size is therefore the reported size of the last response plus the content that was added since
 * then.
 */
export class ConversationInput {
  /** G.711 has more tokens per byte than PCM. The rate stays narrow once any audio is narrow. */
  rate: 'wide' | 'narrow' = 'wide'
  private reported: Tokens = { text: 0, audio: 0 }
  private added: Content = NO_CONTENT

  add(content: Content): void {
    this.added = withContent(this.added, content)
  }

  /**
   * Returns the size of the content that was added so far. It is passed to `noteReport` after the
   * response whose input includes this content.
   */
  get mark(): Content {
    return this.added
  }

  tokensAtMost(more: Content = NO_CONTENT): number {
    const { text, audio } = this.reported
    return text + audio + tokensAtMost(withContent(this.added, more), this.rate)
  }

  /** Returns an estimate of the input, for a response without a report. */
  estimate(): Usage {
    const { text, audio, image } = estimatedTokens(this.added, this.rate)
    return {
      ...NO_USAGE,
      inputUncached: this.reported.text + text,
      inputAudio: this.reported.audio + audio,
      inputImage: image,
    }
  }

  /** Notes the reported usage of a response, whose input included `mark`. */
  noteReport(usage: Usage, mark: Content): void {
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

  /** Notes a response without a report, whose output is added to the conversation. */
  noteOutput({ output, outputAudio }: Usage): void {
    const { text, audio } = this.reported
    this.reported = { text: text + output - outputAudio, audio: audio + outputAudio }
  }
}

/** Reports whether an event contains audio in base64. */
export const isAudio = (type: string): boolean => /^response\.(?:output_)?audio\.delta$/.test(type)

/** The content of a response that the provider has sent so far. */
export class DeliveredOutput {
  private textTokens = 0
  private audioBytes = 0

  /** Counts an event whose type ends in `.delta`. */
  add(type: string, delta: unknown): void {
    if (typeof delta !== 'string') return
    if (isAudio(type)) {
      this.audioBytes += Math.floor((delta.length * 3) / 4)
    } else this.textTokens += estimateTokens(delta)
  }

  get isEmpty(): boolean {
    return this.textTokens === 0 && this.audioBytes === 0
  }

  usage(rate: 'wide' | 'narrow'): Pick<Usage, 'output' | 'outputAudio'> {
    const outputAudio = Math.ceil(this.audioBytes / AUDIO_BYTES_PER_TOKEN.output[rate])
    return { output: Math.ceil(this.textTokens) + outputAudio, outputAudio }
  }
}

import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { isByAudioTokens } from '../dialects/openai-audio/audio-usage.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { AnswerScreen } from '../screening/word-screening.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import { AudioForwarder } from './audio-forwarder.ts'
import type { CancellableBackgroundResponse } from './background-response-left-running.ts'
import type { Exchange } from './http-exchange.ts'
import { readTextsOf } from './log-unreadable-answer.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { StreamForwarder } from './stream-forwarder.ts'
import { writeBytes, writeEvents } from './write-streamed-response.ts'

type Options = {
  readonly screen: AnswerScreen | null
  readonly price: PriceSnapshot
  readonly onFirstByte: () => void
  /** Called after each write. */
  readonly onDelivered: () => void
  /** Called if a finished answer contains a screened word (see `StreamForwarder`). */
  readonly onScreenedAtEnd: () => void
  /**
   * The background response that the stream delivers. Null unless the provider generates the answer
   * in the background.
   */
  readonly background: CancellableBackgroundResponse | null
}

/** Reports whether the answer is forwarded piece by piece. A plain answer is sent as a whole. */
export const needsForwarder = ({ isStream, format }: ChatRequest): boolean =>
  isStream || format.hasBinaryAnswer === true

/**
 * Creates the forwarder of an attempt. The request must need a forwarder (see `needsForwarder`).
 */
export function forwarderOf(
  exchange: Exchange,
  called: ChatRequest,
  candidate: Candidate,
  { screen, price, onFirstByte, onDelivered, onScreenedAtEnd, background }: Options,
): AnswerForwarder {
  const { request, upstreamModel, conversion } = candidate
  if (called.format.hasBinaryAnswer && !called.isStream) {
    const forwarder: AudioForwarder = new AudioForwarder(
      { write: (bytes) => writeBytes(exchange, forwarder.binaryType, bytes) },
      isByAudioTokens(price),
      onFirstByte,
      onDelivered,
    )
    return forwarder
  }
  const forwarder = new StreamForwarder(
    { ...request.format, readTexts: readTextsOf(candidate) },
    { write: (bytes: Buffer) => writeEvents(exchange, bytes) },
    request.wantsUsage,
    upstreamModel === null ? null : request.model,
    onFirstByte,
    screen,
    onDelivered,
    conversion?.createStream(exchange.call) ?? null,
  )
  const { toolLimits, imageFactor } = request
  forwarder.background = background
  forwarder.onScreenedAtEnd = onScreenedAtEnd
  forwarder.countsToolUses = toolLimits !== undefined || imageFactor !== undefined
  return forwarder
}

import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { type AnswerScreen, answerScreen } from '../screening/word-screening.ts'
import type { CallContext } from './call-of-session.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'

/** The prefix of the types of all events about transcriptions. */
export const TRANSCRIPTION = 'conversation.item.input_audio_transcription'
/** The types of the events with a piece of a transcription. */
export const TRANSCRIPT_TEXTS = new Set([`${TRANSCRIPTION}.delta`, `${TRANSCRIPTION}.segment`])
/** The maximum number of unfinished transcriptions whose beginning is remembered. */
const UNFINISHED_MAX = 64

/** Searches the transcriptions of the caller's audio for screened words, while they arrive. */
export class TranscriptScreen {
  private readonly context: CallContext
  private readonly unfinished = new Map<unknown, AnswerScreen>()

  constructor(context: CallContext) {
    this.context = context
  }

  /**
   * Checks an event with a piece of a transcription or with a complete one. Returns the error with
   * which the session must end if it contains a screened word. The event must then not be sent.
   */
  check({ type, item_id: id, delta, text, transcript }: ServerEvent): RelayError | null {
    const { deps, caller } = this.context
    const isPiece = TRANSCRIPT_TEXTS.has(type)
    const piece = isPiece ? (delta ?? text) : transcript
    const begun = isPiece ? this.unfinished.get(id) : undefined
    const screen = begun ?? answerScreen(deps.views.options.options.screening, caller.group)
    this.unfinished.delete(id)
    if (screen === null || typeof piece !== 'string') return null
    if (!screen.isCleanText(piece)) return relayError('sensitive_answer')
    const [oldest] = this.unfinished.keys()
    if (this.unfinished.size >= UNFINISHED_MAX) this.unfinished.delete(oldest)
    if (isPiece) this.unfinished.set(id, screen)
    return null
  }
}

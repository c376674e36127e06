import type { Usage } from '#domain/pricing/usage.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AnswerScreen } from '../screening/word-screening.ts'
import type { SessionCall } from './call-of-session.ts'
import { type DeliveredOutput, isAudio } from './estimate-conversation-tokens.ts'
import { LatestIds } from './latest-ids.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import type { OutputRates } from './settings-in-force.ts'
import type { ContentSize } from './size-of-conversation-items.ts'

/** A response that the provider is generating. */
export type RunningResponse = {
  /** The provider's id; empty if the provider gave none. */
  readonly id: string
  readonly call: SessionCall
  readonly output: DeliveredOutput
  /** The rates that the output audio may have. */
  readonly outputRates: OutputRates
  readonly input: Usage
  readonly mark: ContentSize
  /** False for a response whose output is not added to the conversation. */
  readonly isInConversation: boolean
  /**
   * False if the request gave the response an input of its own, or asked for a response outside of
   * the conversation.
   */
  readonly hasConversationAsInput: boolean
  /** Checks the text of the response for blocked words; null if texts are not checked. */
  readonly screen: AnswerScreen | null
}

/** A caller's request for a response that the provider has not yet begun. */
export type RequestedResponse = {
  readonly eventId: string
  readonly mark: ContentSize
  /** False if the request says that the output is not added to the conversation. */
  readonly isInConversation: boolean
  /** True if the response has an input of its own instead of the conversation. */
  readonly hasOwnInput: boolean
  /** The size of the input that only this response reads, such as its instructions. */
  readonly content: ContentSize
  /** The output limit in tokens. */
  readonly outputTokens: number
  /** The number of bytes per second of output audio; undefined if the session's number applies. */
  readonly outputRate: number | undefined
  /** True if the provider has reported an error that may be about this request. */
  isDoubtful: boolean
  /** The time at which the request was sent, by `performance.now()`. */
  readonly at: number
}

/**
 * Returns how a response that begins uses the conversation. `request` is the latest request whose
 * response has not begun. Speech may have begun this response, so the request may be for another
 * one. Therefore, the provider's description of the response determines whether the output is
 * added. If it does not say so, the request is used.
 */
export function conversationUseOf(
  response: unknown,
  request: RequestedResponse | null,
): Pick<RunningResponse, 'isInConversation' | 'hasConversationAsInput'> {
  const { conversation_id: conversation } = objectOrEmpty(response)
  const isRequestedInside = request?.isInConversation !== false
  return {
    isInConversation: conversation === undefined ? isRequestedInside : conversation !== null,
    hasConversationAsInput: isRequestedInside && request?.hasOwnInput !== true,
  }
}

/**
 * The responses of a session that the provider is generating, and the ids of the latest responses
 * that have ended or are not charged. A response with a known id is never charged by a second call.
 */
export class RunningResponses {
  private readonly running = new Map<string, RunningResponse>()
  private readonly ended = new LatestIds()
  private readonly unrequested = new LatestIds()
  private unnamed = 0
  /**
   * True if the event that ends a response without an id has arrived before the one that begins it.
   */
  private isBeginningLate = false

  get size(): number {
    return this.running.size
  }

  get all(): readonly RunningResponse[] {
    return [...this.running.values()]
  }

  get ids(): readonly string[] {
    return this.all.map(({ id }) => id)
  }

  add(response: RunningResponse): void {
    this.isBeginningLate = false
    if (response.id === '') this.unnamed += 1
    this.running.set(response.id || `unnamed ${this.unnamed}`, response)
  }

  /** Records a response that is not charged, because nobody has requested it. */
  addUnrequested(id: string): void {
    this.unrequested.add(id)
  }

  isUnrequested(id: string): boolean {
    return this.unrequested.has(id)
  }

  /** Reports whether the response has ended and was charged. */
  hasEnded(id: string): boolean {
    return this.ended.has(id)
  }

  /** Reports whether a response has a call or was charged. */
  isCharged(id: string): boolean {
    if (id === '') return this.all.some((each) => each.id === '')
    return this.running.has(id) || this.ended.has(id)
  }

  /**
   * Reports whether the event that begins a response is outdated. An event with an id is outdated
   * if the response has already begun or ended, or was not requested. An event without an id is
   * outdated if a response without an id runs, or if the end of such a response has arrived before
   * its beginning. If another response was requested (`isExpected`), an event without an id is
   * never outdated.
   */
  isRepeatedBeginning(id: string, isExpected: boolean): boolean {
    if (id !== '') return this.isCharged(id) || this.isUnrequested(id)
    if (isExpected) return false
    const isLate = this.isBeginningLate
    this.isBeginningLate = false
    return isLate || this.isCharged('')
  }

  /** Records that the end of a response without an id has arrived before its beginning. */
  noteEndBeforeBeginning(): void {
    this.isBeginningLate = true
  }

  /**
   * Returns the running response with this id. If there is none, for example because an event has
   * no id, returns the only running response, or undefined if not exactly one is running.
   */
  find(id: unknown): RunningResponse | undefined {
    const [only] = this.running.size === 1 ? this.running.values() : []
    return (typeof id === 'string' ? this.running.get(id) : undefined) ?? only
  }

  /**
   * Counts a `.delta` event of a response before it is sent to the caller. Returns the error with
   * which the session must end if the text so far contains a blocked word, or if the earlier events
   * have exceeded the output limit. The event must then not be sent. In the latter case, it is not
   * counted either.
   */
  noteDelta({ type, response_id, delta }: ServerEvent): RelayError | null {
    const response = this.find(response_id)
    if (response === undefined) return null
    const { call, output, screen, outputRates } = response
    // Only a response that is too long in each possible format ends the session.
    const { output: leastTokens } = output.usage(Math.max(...outputRates()))
    if (call.isOverLimit(leastTokens)) return relayError('output_limit_ignored')
    call.noteFirstByte()
    output.add(type, delta)
    const isText = typeof delta === 'string' && !isAudio(type)
    return isText && screen?.isCleanText(delta) === false ? relayError('sensitive_answer') : null
  }

  /**
   * Removes a response that ends. If the id is empty, this is a response that began without an id
   * or, if there is none, the oldest response.
   */
  end(id: string): RunningResponse | undefined {
    const [oldest] = this.running
    const unnamed = [...this.running].find(([, each]) => each.id === '')
    const [key = id, response] = id === '' ? (unnamed ?? oldest ?? []) : [id, this.running.get(id)]
    this.running.delete(key)
    if (response !== undefined) this.ended.add(response.id)
    return response
  }

  /** Removes all running responses and returns them. */
  endAll(): readonly RunningResponse[] {
    const { all } = this
    this.running.clear()
    return all
  }
}

import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import { joinEventsToAnswer } from '#relay/conversion/join-canonical-events.ts'
import {
  type AnswerError,
  type CanonicalAnswer,
  type CanonicalEvent,
  FailedAnswer,
  type StreamReader,
} from '../../canonical/canonical-answer.ts'
import { callIdInAnswer } from './create-tool-call-ids.ts'
import { readFinishReason, readModelFailure } from './finish-reason.ts'
import { readLogprobs } from './logprobs.ts'
import { pictureAsMarkdown } from './pictures-as-markdown.ts'
import { readSignature, readThought } from './thought-signature.ts'
import { readUsage } from './usage-metadata.ts'

/** The maximum number of choices, and of parts per choice, that are read. */
const COUNT_MAX = 128

/**
 * Reads the answer of `generateContent`. Content that can't be read is left out. Throws
 * `FailedAnswer` if the answer ended with a failure of the model.
 */
export function readAnswer(body: JsonObject, fallbackId = ''): CanonicalAnswer {
  const reader = new AnswerReader(fallbackId)
  const events = [...reader.read(body), ...reader.finish()]
  const error = events.find((event) => event.kind === 'error')
  if (error?.isOfModel) throw new FailedAnswer(error)
  return joinEventsToAnswer(events)
}

/**
 * Reads the stream of `streamGenerateContent`. Each chunk has the form of a complete answer. Some
 * models repeat the stop reason in every chunk, so only `finish` reports it. If a choice has no
 * stop reason, the stream was cut off, and `finish` returns no `end`.
 */
export const createStreamReader = (fallbackId = ''): StreamReader => new AnswerReader(fallbackId)

class AnswerReader implements StreamReader {
  private readonly choices = new Map<number, ChoiceReader>()
  private id: string
  private isBlocked = false
  private isStarted = false
  private hasFailed = false

  constructor(fallbackId: string) {
    this.id = fallbackId
  }

  read(data: JsonObject): readonly CanonicalEvent[] {
    if (this.hasFailed) return []
    if (isObject(data.error)) return [this.readError(data.error)]
    const events: CanonicalEvent[] = []
    if (!this.isStarted) {
      this.isStarted = true
      this.id = textOr(data.responseId, this.id)
      events.push({ kind: 'start', id: this.id, model: textOr(data.modelVersion, '') })
    }
    // The usage is reported first, because some formats write the input tokens before the answer.
    const usage = readUsage(data.usageMetadata)
    if (usage !== null) events.push({ kind: 'usage', usage })
    const candidates = Array.isArray(data.candidates) ? data.candidates.slice(0, COUNT_MAX) : []
    for (const [position, candidate] of candidates.entries()) {
      if (!isObject(candidate)) continue
      const index = typeof candidate.index === 'number' ? candidate.index : position
      for (const event of this.choiceAt(index)?.read(candidate) ?? []) events.push(event)
    }
    const feedback = data.promptFeedback
    if (isObject(feedback) && typeof feedback.blockReason === 'string') this.isBlocked = true
    return events
  }

  private choiceAt(index: number): ChoiceReader | null {
    if (!Number.isInteger(index) || index < 0 || index >= COUNT_MAX) return null
    const present = this.choices.get(index)
    if (present !== undefined) return present
    const choice = new ChoiceReader(this.id, index)
    this.choices.set(index, choice)
    return choice
  }

  private readError({ status, code, message }: JsonObject): CanonicalEvent {
    this.hasFailed = true
    const type = textOr(status, typeof code === 'number' ? String(code) : 'UNKNOWN')
    return { kind: 'error', type, message: textOr(message, '') }
  }

  finish(): readonly CanonicalEvent[] {
    if (this.hasFailed || !this.isStarted) return []
    const choices = [...this.choices.values()].sort((a, b) => a.index - b.index)
    if (choices.length === 0 && this.isBlocked) {
      const stop = { kind: 'stop', choice: 0, stop: 'refusal', stopSequence: null } as const
      return [stop, { kind: 'end' }]
    }
    for (const { fault } of choices) if (fault !== null) return [{ kind: 'error', ...fault }]
    const stops = choices.flatMap((choice) => choice.finish())
    return stops.length < choices.length ? stops : [...stops, { kind: 'end' }]
  }
}

const textOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback

class ChoiceReader {
  readonly index: number
  private readonly answerId: string
  private partCount = 0
  /**
   * The kind of the last part if the next text or thought may continue the part. Otherwise null.
   */
  private open: 'text' | 'thinking' | null = null
  private hasCalls = false
  private finishReason: string | null = null
  private finishMessage = ''

  constructor(answerId: string, index: number) {
    this.answerId = answerId
    this.index = index
  }

  /** The error if the choice ended with a failure of the model. Otherwise null. */
  get fault(): AnswerError | null {
    return this.finishReason === null
      ? null
      : readModelFailure(this.finishReason, this.finishMessage)
  }

  read(candidate: JsonObject): readonly CanonicalEvent[] {
    const { content, finishReason, finishMessage, logprobsResult } = candidate
    this.finishMessage = textOr(finishMessage, this.finishMessage)
    if (typeof finishReason === 'string' && finishReason !== 'FINISH_REASON_UNSPECIFIED') {
      this.finishReason = finishReason
    }
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    const events = parts.filter(isObject).flatMap((part) => this.readPart(part))
    const tokens = readLogprobs(logprobsResult)
    if (tokens.length > 0) events.push({ kind: 'logprobs', choice: this.index, tokens })
    return events
  }

  finish(): readonly CanonicalEvent[] {
    if (this.finishReason === null) return []
    const stop = readFinishReason(this.finishReason, this.hasCalls)
    return [{ kind: 'stop', choice: this.index, stop, stopSequence: null }]
  }

  private readPart(part: JsonObject): readonly CanonicalEvent[] {
    if (isObject(part.functionCall)) return this.readCall(part.functionCall, part)
    const { inlineData, thought } = part
    // Pictures in thoughts are drafts and are left out.
    const isPicture = isObject(inlineData) && thought !== true
    const picture = isPicture ? pictureAsMarkdown(inlineData) : null
    const text = picture ?? (typeof part.text === 'string' ? part.text : '')
    if (part.thought === true) return this.readThought(text, part.thoughtSignature)
    const signature = readSignature(part.thoughtSignature)
    if (text === '') return signature === null ? [] : this.signOpenPart(signature)
    const at = this.partFor('text')
    if (at === null) return []
    return [{ kind: 'text', ...at, text, ...(signature !== null && { signature }) }]
  }

  /**
   * Adds the signature of a part without text to the text or thought before the part. If there is
   * no such text or thought, the signature is left out.
   */
  private signOpenPart(signature: string): readonly CanonicalEvent[] {
    if (this.open === 'thinking') return this.readThought('', signature)
    if (this.open === null) return []
    return [{ kind: 'text', choice: this.index, part: this.partCount - 1, text: '', signature }]
  }

  private readThought(text: string, field: unknown): readonly CanonicalEvent[] {
    const { signature, redacted } = readThought(text, field)
    if (text === '' && signature === undefined && redacted === undefined) return []
    if (redacted !== undefined) this.open = null
    const at = this.partFor('thinking')
    if (at === null) return []
    const events: CanonicalEvent[] = []
    if (text !== '') events.push({ kind: 'thinking', ...at, text })
    if (signature !== undefined) events.push({ kind: 'thinking-signature', ...at, signature })
    if (redacted !== undefined) events.push({ kind: 'thinking-redacted', ...at, data: redacted })
    // The thought is signed or encrypted, so a later thought is a separate part.
    if (events.at(-1)?.kind !== 'thinking') this.open = null
    return events
  }

  private readCall(call: JsonObject, part: JsonObject): readonly CanonicalEvent[] {
    const name = textOr(call.name, '')
    const at = name === '' ? null : this.newPart()
    if (at === null) return []
    this.open = null
    this.hasCalls = true
    const id = textOr(call.id, callIdInAnswer(this.answerId, this.index, at.part))
    const signature = readSignature(part.thoughtSignature)
    const json = JSON.stringify(isObject(call.args) ? call.args : {})
    return [
      { kind: 'tool-call', ...at, id, name, ...(signature !== null && { signature }) },
      { kind: 'tool-arguments', ...at, json },
    ]
  }

  /**
   * Returns the position of the last part if the part has this kind and is open. Otherwise, adds a
   * part and returns its position. Returns null if the choice already has `COUNT_MAX` parts.
   */
  private partFor(kind: 'text' | 'thinking') {
    if (this.open === kind) return { choice: this.index, part: this.partCount - 1 }
    const at = this.newPart()
    if (at !== null) this.open = kind
    return at
  }

  private newPart() {
    if (this.partCount >= COUNT_MAX) return null
    this.partCount += 1
    return { choice: this.index, part: this.partCount - 1 }
  }
}

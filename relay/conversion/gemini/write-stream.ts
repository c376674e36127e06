import type { JsonObject } from '#relay/canonical/json-values.ts'
import { addThoughtEvent } from '#relay/conversion/join-canonical-events.ts'
import { HeldCharacters } from '#relay/conversion/memory-of-stream-writers.ts'
import type {
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
  StreamWriter,
} from '../../canonical/canonical-answer.ts'
import type { ThinkingPart, ToolCallPart } from '../../canonical/canonical-request.ts'
import { writeFinishReason } from './finish-reason.ts'
import { writeLogprobs } from './logprobs.ts'
import { signatureForCaller } from './thought-signature.ts'
import { writeUsage } from './usage-metadata.ts'
import { withThoughts, writeAnswerPart } from './write-answer.ts'

/**
 * Writes the stream of `streamGenerateContent`. A tool call is written when it is complete, because
 * the format can't split its arguments. The last chunk contains the stop reasons of all choices and
 * the usage. The message of an error is written unchanged. `fallbackId` is the answer's id if the
 * provider sent none.
 */
export const createStreamWriter = (fallbackId = ''): StreamWriter => new ChunkWriter(fallbackId)

type OpenChoice = {
  /** The tool calls that have not been written yet, by part number. */
  readonly calls: Map<number, ToolCallPart>
  /** The thoughts since the last tool call, by part number. */
  readonly thoughts: Map<number, ThinkingPart>
  /** The number of characters of these calls and thoughts. */
  heldCharacters: number
  stop: StopReason | null
}
type CallEvent = Extract<CanonicalEvent, { kind: 'tool-call' | 'tool-arguments' }>

class ChunkWriter implements StreamWriter {
  hasGivenUp = false
  /** The calls that are held back, and the thoughts that are kept for the next calls. */
  private readonly held = new HeldCharacters()
  private readonly choices = new Map<number, OpenChoice>()
  private identity: JsonObject
  private usage: CanonicalUsage | null = null
  private isClosed = false
  private readonly fallbackId: string

  constructor(fallbackId: string) {
    this.fallbackId = fallbackId
    this.identity = fallbackId === '' ? {} : { responseId: fallbackId }
  }

  write(event: CanonicalEvent): string {
    if (this.isClosed) return ''
    switch (event.kind) {
      case 'start':
        this.identity = { modelVersion: event.model, responseId: event.id || this.fallbackId }
        return ''
      case 'usage':
        this.usage = event.usage
        return ''
      case 'tool-call':
      case 'tool-arguments':
        this.addToCall(event)
        return this.held.isTooMuch ? this.giveUp() : ''
      case 'stop':
        this.choiceAt(event.choice).stop = event.stop
        return this.writeCalls(event.choice)
      case 'logprobs':
        return this.writeChunk([
          { ...candidate(event.choice, []), logprobsResult: writeLogprobs(event.tokens) },
        ])
      case 'error':
        return this.close(writeStreamError(event.type, event.message))
      case 'end':
        return this.writeEnd()
      case 'part-begun':
        // The format has no chunk for this event. A chunk with an empty text can't be sent instead,
        // because clients would send the empty text back with the next request.
        return ''
      default: {
        const calls = this.writeCalls(event.choice)
        this.addToThought(event)
        if (this.held.isTooMuch) return this.giveUp()
        return calls + this.writeParts(event.choice, partOf(event))
      }
    }
  }

  private giveUp(): string {
    this.isClosed = true
    this.hasGivenUp = true
    return ''
  }

  private choiceAt(index: number): OpenChoice {
    const present = this.choices.get(index)
    if (present !== undefined) return present
    const choice = { calls: new Map(), thoughts: new Map(), heldCharacters: 0, stop: null }
    this.choices.set(index, choice)
    return choice
  }

  private addToCall(event: CallEvent): void {
    const choice = this.choiceAt(event.choice)
    const { calls } = choice
    choice.heldCharacters += this.held.addEvent(event)
    if (event.kind === 'tool-call') {
      const { id, name, signature } = event
      const call = { kind: event.kind, id, name, argumentsJson: '' }
      calls.set(event.part, signature === undefined ? call : { ...call, signature })
      return
    }
    const call = calls.get(event.part)
    if (call === undefined) return
    calls.set(event.part, { ...call, argumentsJson: call.argumentsJson + event.json })
  }

  private addToThought(event: WrittenEvent): void {
    if (event.kind === 'text' || event.kind === 'refusal') return
    const choice = this.choiceAt(event.choice)
    const { thoughts } = choice
    choice.heldCharacters += this.held.addEvent(event)
    const thought = thoughts.get(event.part) ?? { kind: 'thinking', text: '' }
    thoughts.set(event.part, addThoughtEvent(thought, event))
  }

  /**
   * Writes the tool calls of a choice that were held back. They are complete once a part of another
   * kind begins or the choice ends.
   */
  private writeCalls(index: number): string {
    const choice = this.choiceAt(index)
    const { calls, thoughts } = choice
    if (calls.size === 0) return ''
    const [first, ...others] = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call)
    const signed = first === undefined ? [] : [withThoughts(first, [...thoughts.values()])]
    calls.clear()
    thoughts.clear()
    this.held.add(-choice.heldCharacters)
    choice.heldCharacters = 0
    return this.writeParts(index, [...signed, ...others].flatMap(writeAnswerPart))
  }

  private writeParts(index: number, parts: readonly JsonObject[]): string {
    this.choiceAt(index)
    return parts.length === 0 ? '' : this.writeChunk([candidate(index, parts)])
  }

  /** Writes the end of the stream. Clients expect a choice, so an empty answer has one. */
  private writeEnd(): string {
    if (this.choices.size === 0) this.choiceAt(0)
    const indexes = [...this.choices.keys()].sort((a, b) => a - b)
    const calls = indexes.map((index) => this.writeCalls(index)).join('')
    const candidates = indexes.map((index) => ({
      ...candidate(index, []),
      finishReason: writeFinishReason(this.choices.get(index)?.stop ?? 'end'),
    }))
    return calls + this.close(this.chunkOf(candidates))
  }

  private writeChunk(candidates: readonly JsonObject[]): string {
    return eventOf(this.chunkOf(candidates))
  }

  private chunkOf(candidates: readonly JsonObject[]): JsonObject {
    return {
      ...(candidates.length > 0 && { candidates }),
      ...(this.usage !== null && { usageMetadata: writeUsage(this.usage) }),
      ...this.identity,
    }
  }

  private close(chunk: JsonObject): string {
    this.isClosed = true
    return eventOf(chunk)
  }
}

const eventOf = (chunk: JsonObject): string => `data: ${JSON.stringify(chunk)}\n\n`

const candidate = (index: number, parts: readonly JsonObject[]): JsonObject => ({
  content: { parts: parts.length > 0 ? parts : [{ text: '' }], role: 'model' },
  index,
})

type WrittenEvent = Extract<
  CanonicalEvent,
  { kind: 'text' | 'refusal' | 'thinking' | 'thinking-signature' | 'thinking-redacted' }
>

function partOf(event: WrittenEvent): readonly JsonObject[] {
  switch (event.kind) {
    case 'thinking-signature': {
      const thoughtSignature = signatureForCaller({ signature: event.signature })
      return [{ text: '', thought: true, thoughtSignature }]
    }
    case 'thinking-redacted':
      return writeAnswerPart({ kind: 'thinking', text: '', redacted: event.data })
    default: {
      const isEmpty = event.text === '' && !('signature' in event && event.signature !== undefined)
      return isEmpty ? [] : writeAnswerPart(event)
    }
  }
}

const CODES = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])
/** The statuses of Google's errors that correspond to the error types of other formats. */
const STATUSES = new Map([
  ['invalid_request_error', 'INVALID_ARGUMENT'],
  ['authentication_error', 'UNAUTHENTICATED'],
  ['permission_error', 'PERMISSION_DENIED'],
  ['not_found_error', 'NOT_FOUND'],
  ['rate_limit_error', 'RESOURCE_EXHAUSTED'],
  ['rate_limit_exceeded', 'RESOURCE_EXHAUSTED'],
  ['insufficient_quota', 'RESOURCE_EXHAUSTED'],
  ['overloaded_error', 'UNAVAILABLE'],
  ['timeout_error', 'DEADLINE_EXCEEDED'],
])

/**
 * Writes an error within a stream. Client libraries recognize the error by an HTTP status in
 * `code`. An unknown type becomes `INTERNAL`.
 */
function writeStreamError(type: string, message: string): JsonObject {
  const status = STATUSES.get(type) ?? type
  const code = CODES.get(status)
  return code === undefined
    ? { error: { code: 500, message, status: 'INTERNAL' } }
    : { error: { code, message, status } }
}

import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
  StreamWriter,
} from '../../canonical/canonical-answer.ts'
import type { ThinkingPart } from '../../canonical/canonical-request.ts'
import { CustomToolInputDecoder } from '../decode-custom-tool-input.ts'
import { HeldCharacters } from '../memory-of-stream-writers.ts'
import { DONE_EVENT, dataEvent } from '../write-server-sent-events.ts'
import { finishReason } from './finish-reasons.ts'
import { writeDetail } from './thinking-in-assistant-messages.ts'
import { writeUsage } from './usage.ts'
import { type AnswerOptions, callHead } from './write-answer.ts'

/**
 * Writes the chunks of a streamed answer. An error ends the stream without `[DONE]`. The error's
 * message is written unchanged, so the caller of `write` must redact it first. `fallbackId` is the
 * answer's id if the provider sent none.
 */
export function createStreamWriter(options: AnswerOptions, fallbackId = ''): ChunkWriter {
  return new ChunkWriter(options, fallbackId)
}

/**
 * A tool call, with its index among all tool calls of the choice. `decoder` reads the input of a
 * custom tool from its arguments, and is null for a function.
 */
type Call = {
  readonly index: number
  readonly decoder: CustomToolInputDecoder | null
  hasArguments: boolean
}

type Choice = {
  /** The tool calls, by part number. */
  readonly calls: Map<number, Call>
  /** The index of each thinking part among all thinking parts, by part number. */
  readonly thinking: Map<number, number>
  isRefused: boolean
  isStopped: boolean
}

class ChunkWriter implements StreamWriter {
  hasGivenUp = false
  private readonly options: AnswerOptions
  private readonly choices = new Map<number, Choice>()
  private id: string
  private model = ''
  private usage: CanonicalUsage | null = null
  private isEnded = false
  /** The arguments of custom tools that are held back. */
  private readonly held = new HeldCharacters()

  constructor(options: AnswerOptions, fallbackId: string) {
    this.options = options
    this.id = fallbackId
  }

  write(event: CanonicalEvent): string {
    if (this.isEnded) return ''
    switch (event.kind) {
      case 'start':
        // The role is written when the model begins its first part. Until then, the caller has
        // received nothing, so a call whose stream fails can be sent to another channel.
        this.id = event.id || this.id
        this.model = event.model
        return ''
      case 'usage':
        this.usage = event.usage
        return ''
      case 'error':
        this.isEnded = true
        return dataEvent({
          error: { message: event.message, type: event.type, param: null, code: null },
        })
      case 'end':
        return this.end()
      case 'part-begun':
        return this.begin(event.choice)
      default:
        return this.begin(event.choice) + this.writeChoiceEvent(event)
    }
  }

  /** Writes the role of a choice, which must precede its other deltas. */
  private begin(choice: number): string {
    if (this.choices.has(choice)) return ''
    const state = { calls: new Map(), thinking: new Map(), isRefused: false, isStopped: false }
    this.choices.set(choice, state)
    return this.delta(choice, { role: 'assistant', content: '', refusal: null })
  }

  private writeChoiceEvent(event: ChoiceEvent): string {
    const { choice: index } = event
    const choice = this.choices.get(index)
    if (choice === undefined || choice.isStopped) return ''
    switch (event.kind) {
      case 'text':
        return this.delta(index, { content: event.text })
      case 'refusal':
        choice.isRefused = true
        return this.delta(index, { refusal: event.text })
      case 'logprobs':
        return this.chunk([
          choiceOf(index, {}, { logprobs: { content: event.tokens, refusal: null } }),
        ])
      case 'stop':
        return this.stop(index, choice, event.stop)
      case 'tool-call':
      case 'tool-arguments':
        return this.writeCall(index, choice, event)
      default:
        return this.writeThinking(index, choice, event)
    }
  }

  private writeThinking(index: number, choice: Choice, event: ThinkingEvent): string {
    const at = choice.thinking.get(event.part) ?? choice.thinking.size
    choice.thinking.set(event.part, at)
    const detail = writeDetail(thinkingPartOf(event), at)
    const text = event.kind === 'thinking' ? { reasoning_content: event.text } : {}
    return this.delta(index, { ...text, reasoning_details: [withoutEmptyText(detail)] })
  }

  private writeCall(index: number, choice: Choice, event: CallEvent): string {
    const { calls } = choice
    if (event.kind === 'tool-call') {
      const isCustom = this.options.custom?.has(event.name) === true
      const decoder = isCustom ? new CustomToolInputDecoder() : null
      const call = { index: calls.size, decoder, hasArguments: false }
      calls.set(event.part, call)
      if (isCustom) {
        const head = callHead(event, 'custom')
        return this.customDelta(index, call.index, { name: event.name, input: '' }, head)
      }
      const called = { name: event.name, arguments: '' }
      return this.callDelta(index, call.index, called, callHead(event))
    }
    const call = calls.get(event.part)
    if (call === undefined) return ''
    call.hasArguments = true
    if (call.decoder === null) return this.callDelta(index, call.index, { arguments: event.json })
    const { waitingCharacters } = call.decoder
    const input = call.decoder.add(event.json)
    this.held.add(call.decoder.waitingCharacters - waitingCharacters)
    if (this.held.isTooMuch) return this.giveUp()
    return input === '' ? '' : this.customDelta(index, call.index, { input })
  }

  private giveUp(): string {
    this.isEnded = true
    this.hasGivenUp = true
    return ''
  }

  private customDelta(choice: number, index: number, custom: JsonObject, head = {}): string {
    return this.delta(choice, { tool_calls: [{ index, ...head, custom }] })
  }

  /**
   * Writes the rest of a call at the end of its choice. Empty arguments become `{}`, because
   * clients parse them as JSON.
   */
  private endCall(choice: number, { index, hasArguments, decoder }: Call): string {
    if (decoder !== null) {
      const input = decoder.end()
      return input === '' ? '' : this.customDelta(choice, index, { input })
    }
    return hasArguments ? '' : this.callDelta(choice, index, { arguments: '{}' })
  }

  /**
   * Writes a delta of a tool call. With the older `function_call`, only the answer's first call is
   * written.
   */
  private callDelta(choice: number, index: number, called: JsonObject, head = {}): string {
    if (!this.options.usesFunctionCall) {
      return this.delta(choice, { tool_calls: [{ index, ...head, function: called }] })
    }
    return index === 0 ? this.delta(choice, { function_call: called }) : ''
  }

  private stop(index: number, choice: Choice, stop: StopReason): string {
    choice.isStopped = true
    const filled = [...choice.calls.values()].map((call) => this.endCall(index, call))
    const { isRefused } = choice
    const { usesFunctionCall } = this.options
    const reason = finishReason(stop, { isRefused, usesFunctionCall })
    const last = this.chunk([choiceOf(index, {}, { finish_reason: reason })])
    return filled.join('') + last
  }

  /**
   * Writes the end of the stream. Every choice gets a `finish_reason`, because clients reject a
   * stream in which a choice has none.
   */
  private end(): string {
    const begun = this.begin(0)
    const stops = [...this.choices].map(([index, choice]) => {
      if (choice.isStopped) return ''
      return this.stop(index, choice, choice.calls.size > 0 ? 'tool-calls' : 'end')
    })
    this.isEnded = true
    return begun + stops.join('') + this.usageChunk() + DONE_EVENT
  }

  /**
   * Returns the chunk with the usage. Returns an empty string if the provider has not reported the
   * usage or the caller did not request it.
   */
  usageChunk(): string {
    const isWanted = this.options.hasStreamUsage && this.usage !== null
    return isWanted && this.usage !== null ? this.chunk([], writeUsage(this.usage)) : ''
  }

  private delta(choice: number, delta: JsonObject): string {
    return this.chunk([choiceOf(choice, delta)])
  }

  private chunk(choices: readonly JsonObject[], usage: JsonObject | null = null): string {
    return dataEvent({
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.options.createdAt,
      model: this.model,
      choices,
      ...(this.options.hasStreamUsage ? { usage } : {}),
    })
  }
}

type ChoiceEvent = Exclude<
  Extract<CanonicalEvent, { readonly choice: number }>,
  { readonly kind: 'part-begun' }
>
type ThinkingEvent = Extract<
  CanonicalEvent,
  { readonly kind: 'thinking' | 'thinking-signature' | 'thinking-redacted' }
>
type CallEvent = Extract<CanonicalEvent, { readonly kind: 'tool-call' | 'tool-arguments' }>

const choiceOf = (index: number, delta: JsonObject, members: JsonObject = {}): JsonObject => ({
  index,
  delta,
  logprobs: null,
  finish_reason: null,
  ...members,
})

function thinkingPartOf(event: ThinkingEvent): ThinkingPart {
  if (event.kind === 'thinking') return { kind: 'thinking', text: event.text }
  if (event.kind === 'thinking-redacted') {
    return { kind: 'thinking', text: '', redacted: event.data }
  }
  return { kind: 'thinking', text: '', signature: event.signature }
}

function withoutEmptyText(detail: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== ''))
}

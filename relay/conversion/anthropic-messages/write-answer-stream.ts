import type {
  AnswerPart,
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
  StreamWriter,
} from '../../canonical/canonical-answer.ts'
import { writeRefusalDetails, writeStopReason } from './stop-reasons.ts'
import { writeUsage } from './usage.ts'
import { madeUpCallId, signatureBlock } from './write-answer.ts'
import { InterleavedCalls, type PartEvent } from './write-interleaved-tool-calls-in-order.ts'
import type { Block } from './write-tool-input.ts'

/** The maximum length of a refusal's text, which is kept until the stop reason is written. */
const REFUSAL_CHARACTERS_MAX = 10_000

const ERROR_TYPES = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
])

/**
 * Writes the stream of one answer of `POST /v1/messages`. The format has only one choice, so only
 * events of the first choice are written. Only one block is open at a time, so interleaved tool
 * calls are put in order. `message_delta` is written at the end, because it contains the final
 * usage. Nothing is written after an error or the end. `fallbackId` is used if the provider sent no
 * id. Source: the page "Streaming messages" on platform.claude.com.
 */
export function createStreamWriter(fallbackId: string): StreamWriter {
  return new StreamState(fallbackId)
}

class StreamState implements StreamWriter {
  hasGivenUp = false
  private readonly calls = new InterleavedCalls()
  private readonly kinds = new Set<AnswerPart['kind']>()
  private id: string
  private model = ''
  private usage: CanonicalUsage | null = null
  private phase: 'new' | 'starting' | 'started' | 'ended' = 'new'
  private openPart: number | null = null
  private blocks = 0
  private refusal = ''
  private stop: StopReason = 'end'
  private stopSequence: string | null = null

  constructor(fallbackId: string) {
    this.id = fallbackId
  }

  write(event: CanonicalEvent): string {
    if (this.phase === 'ended') return ''
    switch (event.kind) {
      case 'start':
        return this.start(event.id, event.model)
      case 'usage':
        this.usage = event.usage
        return this.phase === 'starting' ? this.begin() : ''
      case 'stop':
        if (event.choice === 0) {
          this.stop = event.stop
          this.stopSequence = event.stopSequence
        }
        return this.begin()
      case 'logprobs':
        return ''
      case 'part-begun':
        return this.begin()
      case 'error':
        return this.fail(event.type, event.message)
      case 'end':
        return this.end()
      default:
        return event.choice !== 0 || isEmpty(event) ? '' : this.begin() + this.writePart(event)
    }
  }

  /**
   * Delays `message_start` until the next event, which may contain the input usage that
   * `message_start` reports.
   */
  private start(id: string, model: string): string {
    if (this.phase !== 'new') return ''
    this.phase = 'starting'
    if (id !== '') this.id = id
    this.model = model
    return ''
  }

  private begin(): string {
    if (this.phase === 'started') return ''
    this.phase = 'started'
    return sse('message_start', {
      message: {
        id: this.id,
        type: 'message',
        role: 'assistant',
        model: this.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: writeUsage(this.usage),
      },
    })
  }

  private writePart(event: PartEvent): string {
    if (event.kind === 'refusal') {
      this.kinds.add('refusal')
      const room = REFUSAL_CHARACTERS_MAX - this.refusal.length
      this.refusal += event.text.slice(0, room)
      return ''
    }
    const ordered = this.calls.add(event)
    if (ordered === null) return this.giveUp()
    return ordered.map((one) => this.writeOrdered(one)).join('')
  }

  private writeOrdered(event: PartEvent): string {
    const opening = this.openPart === event.part ? '' : this.closeBlock() + this.openBlock(event)
    const delta = deltaOf(event)
    if (delta === null) return opening
    return opening + sse('content_block_delta', { index: this.blocks - 1, delta })
  }

  private openBlock(event: PartEvent): string {
    this.openPart = event.part
    const block = this.emptyBlock(event)
    if (event.kind !== 'tool-call' || event.signature === undefined) return this.startBlock(block)
    const signed = this.startBlock(signatureBlock(String(block.id), event.signature))
    return signed + this.stopBlock() + this.startBlock(block)
  }

  private startBlock(block: Block): string {
    const index = this.blocks
    this.blocks += 1
    return sse('content_block_start', { index, content_block: block })
  }

  private stopBlock(): string {
    return sse('content_block_stop', { index: this.blocks - 1 })
  }

  private emptyBlock(event: PartEvent): Block {
    switch (event.kind) {
      case 'thinking':
      case 'thinking-signature':
        return { type: 'thinking', thinking: '', signature: '' }
      case 'thinking-redacted':
        return { type: 'redacted_thinking', data: event.data }
      case 'tool-call': {
        this.kinds.add('tool-call')
        const id = event.id === '' ? madeUpCallId(this.id, event.part) : event.id
        return { type: 'tool_use', id, name: event.name, input: {} }
      }
      default:
        return { type: 'text', text: '' }
    }
  }

  private closeBlock(): string {
    if (this.openPart === null) return ''
    this.openPart = null
    return this.stopBlock()
  }

  private end(): string {
    const opening = this.begin()
    const waiting = this.calls.finish().map((event) => this.writeOrdered(event))
    const stop = writeStopReason(this.stop, this.kinds)
    const closing = sse('message_delta', {
      delta: {
        stop_reason: stop,
        stop_sequence: this.stopSequence,
        ...(stop === 'refusal' && { stop_details: writeRefusalDetails(this.refusal) }),
      },
      usage: writeUsage(this.usage),
    })
    const text = [opening, ...waiting, this.closeBlock(), closing, sse('message_stop', {})]
    this.phase = 'ended'
    return text.join('')
  }

  private giveUp(): string {
    this.phase = 'ended'
    this.hasGivenUp = true
    return ''
  }

  private fail(type: string, message: string): string {
    this.phase = 'ended'
    return sse('error', {
      error: { type: ERROR_TYPES.has(type) ? type : 'api_error', message },
    })
  }
}

/**
 * Reports whether the event is an empty delta. Empty deltas are skipped, because they would open
 * empty blocks, which clients must not send back.
 */
const isEmpty = (event: PartEvent): boolean => {
  if (event.kind === 'thinking-signature') return event.signature === ''
  if (event.kind === 'tool-arguments') return event.json === ''
  return 'text' in event && event.text === ''
}

function deltaOf(event: PartEvent): Block | null {
  switch (event.kind) {
    case 'text':
      return { type: 'text_delta', text: event.text }
    case 'thinking':
      return { type: 'thinking_delta', thinking: event.text }
    case 'thinking-signature':
      return { type: 'signature_delta', signature: event.signature }
    case 'tool-arguments':
      return { type: 'input_json_delta', partial_json: event.json }
    default:
      return null
  }
}

const sse = (type: string, members: Block): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  objectsOf,
  textOf,
} from '#relay/canonical/json-values.ts'
import type { CanonicalEvent } from '../../canonical/canonical-answer.ts'
import { readCallId } from '../limit-ids-model-names-and-token-counts.ts'
import { readStop } from './finish-reasons.ts'
import { argumentsText, madeUpCallId, PARTS_MAX, readContentPieces } from './read-answer.ts'
import { callSignature } from './read-request-content.ts'
import { readDetail, signatureOf, textOfDetail } from './thinking-in-assistant-messages.ts'

type TextKind = 'text' | 'refusal' | 'thinking'

/**
 * The part to which the latest delta belongs. `detail` is the element of `reasoning_details` into
 * which the deltas of this part are joined.
 */
type OpenPart = {
  readonly kind: TextKind
  readonly part: number
  detail: JsonObject | null
  /** The signature in the latest delta that had one. It is used if `detail` has none. */
  signature: string | null
}

type Call = {
  readonly index: number | null
  id: string | null
  /** The number of the call's part. Null until the name of the tool is known. */
  part: number | null
  /** The arguments that arrived before the name. */
  pending: string
  hasArguments: boolean
}

/** A text that arrived after a tool call. */
type HeldText = { readonly kind: TextKind; text: string }

/**
 * The maximum total length of the texts and arguments that are held back per choice. Later ones are
 * skipped.
 */
const HELD_LENGTH_MAX = 250_000

/** Reads the deltas of one choice. */
export class ChoiceReader {
  private readonly choice: number
  private readonly answerId: string
  private events: CanonicalEvent[] = []
  private partCount = 0
  private open: OpenPart | null = null
  private readonly calls: Call[] = []
  /**
   * Texts and thinking that arrived after the first tool call. They are held back until the choice
   * ends, because only the deltas of tool calls may be interleaved in canonical events.
   */
  private readonly held: (HeldText | { readonly detail: JsonObject })[] = []
  private heldLength = 0
  private isStopped = false
  /** The kinds of the parts on which the stop reason depends. */
  private readonly kinds = new Set<'tool-call' | 'refusal'>()

  constructor(choice: number, answerId: string) {
    this.choice = choice
    this.answerId = answerId
  }

  read(choice: JsonObject): readonly CanonicalEvent[] {
    if (this.isStopped) return []
    const delta = objectOf(choice.delta) ?? objectOrEmpty(choice.message)
    this.readThinking(delta)
    for (const { kind, text } of readContentPieces(delta.content)) this.addText(kind, text)
    this.addText('text', textOf(objectOf(delta.audio)?.transcript) ?? '')
    this.addText('refusal', textOf(delta.refusal) ?? '')
    for (const call of objectsOf(delta.tool_calls)) this.readCall(call)
    const older = objectOf(delta.function_call)
    if (older !== null) this.readCall({ index: 0, function: older })
    const tokens = objectsOf(objectOf(choice.logprobs)?.content)
    if (tokens.length > 0) this.events.push({ kind: 'logprobs', choice: this.choice, tokens })
    if (textOf(choice.finish_reason)) this.stop(choice)
    return this.takeEvents()
  }

  /** Ends the choice, unless the provider has already ended it. */
  finish(): readonly CanonicalEvent[] {
    if (!this.isStopped) this.stop({})
    return this.takeEvents()
  }

  private takeEvents(): readonly CanonicalEvent[] {
    const { events } = this
    this.events = []
    return events
  }

  /**
   * Reads thinking, which is either a text or a list of details. A provider that sends both forms
   * sends the same text twice, so the text is then skipped.
   */
  private readThinking(delta: JsonObject): void {
    const details = objectsOf(delta.reasoning_details)
    if (!details.some((detail) => textOfDetail(detail) !== '')) {
      this.addText('thinking', textOf(delta.reasoning_content) || textOf(delta.reasoning) || '')
    }
    for (const detail of details) this.addDetail(detail)
  }

  private addText(kind: TextKind, text: string): void {
    if (text === '') return
    if (this.calls.length > 0) {
      this.hold(kind, text)
      return
    }
    const { open } = this
    const part = open?.kind === kind ? open : this.begin(kind)
    if (part !== null && kind === 'refusal') this.kinds.add(kind)
    if (part !== null) this.events.push({ kind, choice: this.choice, part: part.part, text })
  }

  private hold(kind: TextKind, text: string): void {
    if (!this.reserve(text.length)) return
    const last = this.held.at(-1)
    if (last !== undefined && 'kind' in last && last.kind === kind) last.text += text
    else if (this.held.length < PARTS_MAX) this.held.push({ kind, text })
  }

  private holdDetail(detail: JsonObject): void {
    const kept = { ...statedMembers(detail), data: textOf(detail.data), text: textOfDetail(detail) }
    if (this.held.length === PARTS_MAX || !this.reserve(JSON.stringify(kept).length)) return
    this.held.push({ detail: kept })
  }

  /**
   * Reserves memory for a text or arguments that are held back. Returns false if `HELD_LENGTH_MAX`
   * would be exceeded.
   */
  private reserve(length: number): boolean {
    if (this.heldLength + length > HELD_LENGTH_MAX) return false
    this.heldLength += length
    return true
  }

  private addDetail(detail: JsonObject): void {
    if (this.calls.length > 0) {
      this.holdDetail(detail)
      return
    }
    const read = readDetail(detail)
    if (read?.redacted !== undefined) {
      const part = this.nextPart()
      if (part === null) return
      this.events.push({
        kind: 'thinking-redacted',
        choice: this.choice,
        part,
        data: read.redacted,
      })
      return
    }
    const { open } = this
    const isSame =
      open?.kind === 'thinking' && (open.detail?.index ?? detail.index) === detail.index
    const thinking = isSame ? open : read === null ? null : this.begin('thinking')
    if (thinking === null) return
    thinking.signature = read?.signature ?? thinking.signature
    thinking.detail = { ...thinking.detail, ...statedMembers(detail) }
    const text = textOfDetail(detail)
    if (text === '') return
    this.events.push({ kind: 'thinking', choice: this.choice, part: thinking.part, text })
  }

  private begin(kind: TextKind): OpenPart | null {
    const part = this.nextPart()
    if (part === null) return null
    this.open = { kind, part, detail: null, signature: null }
    return this.open
  }

  /**
   * Closes the open part, and returns the number of the next part. Returns null if the choice
   * already has `PARTS_MAX` parts.
   */
  private nextPart(): number | null {
    if (this.partCount === PARTS_MAX) return null
    this.close()
    this.partCount += 1
    return this.partCount - 1
  }

  /**
   * Closes the open part. If the part is thinking, adds its signature, which is complete only now.
   */
  private close(): void {
    const { open, choice } = this
    this.open = null
    if (open?.kind !== 'thinking' || open.detail === null) return
    const signature = signatureOf(open.detail) ?? open.signature
    if (signature === null) return
    this.events.push({ kind: 'thinking-signature', choice, part: open.part, signature })
  }

  private readCall(delta: JsonObject): void {
    const called = objectOf(delta.function)
    const name = textOf(called?.name) || null
    const id = readCallId(delta.id) || null
    const call = this.callOf(delta, id, name)
    if (call === null) return
    if (call.part === null && name !== null) this.beginCall(call, name, callSignature(delta))
    this.addArguments(call, argumentsText(called?.arguments))
  }

  /**
   * Returns the call to which a delta belongs, or adds a new call. Returns null if there are too
   * many calls. Indexes are unreliable: Gemini's endpoint in OpenAI's format gives all calls the
   * index 0, and some providers send no index. Therefore, a delta with a name begins a new call if
   * its id differs from the id of the call that was found.
   */
  private callOf(delta: JsonObject, id: string | null, name: string | null): Call | null {
    const index = typeof delta.index === 'number' ? delta.index : null
    const existing = this.calls.findLast((call) => {
      if (index !== null) return call.index === index
      return id === null ? name === null : call.id === id
    })
    const isOther = id !== null && name !== null && existing?.id !== null && id !== existing?.id
    if (existing !== undefined && !isOther) {
      existing.id ??= id
      return existing
    }
    if (this.calls.length === PARTS_MAX) return null
    const call = { index, id, part: null, pending: '', hasArguments: false }
    this.calls.push(call)
    return call
  }

  private beginCall(call: Call, name: string, signature: string | null): void {
    const { choice } = this
    const part = this.nextPart()
    if (part === null) return
    call.part = part
    const id = call.id ?? madeUpCallId(this.answerId, choice, this.calls.indexOf(call))
    const signed = signature === null ? {} : { signature }
    this.events.push({ kind: 'tool-call', choice, part, id, name, ...signed })
    this.addArguments(call, call.pending)
    call.pending = ''
  }

  private addArguments(call: Call, json: string): void {
    if (json === '') return
    if (call.part === null) {
      if (this.reserve(json.length)) call.pending += json
      return
    }
    call.hasArguments = true
    this.events.push({ kind: 'tool-arguments', choice: this.choice, part: call.part, json })
  }

  private stop(finish: JsonObject): void {
    this.isStopped = true
    const calls = this.calls.splice(0)
    for (const call of calls) if (!call.hasArguments) this.addArguments(call, '{}')
    for (const held of this.held) {
      if ('detail' in held) this.addDetail(held.detail)
      else this.addText(held.kind, held.text)
    }
    this.close()
    if (calls.some(({ part }) => part !== null)) this.kinds.add('tool-call')
    this.events.push({ kind: 'stop', choice: this.choice, ...readStop(finish, this.kinds) })
  }
}

/**
 * Returns the members `type`, `id`, `format`, `signature` and `index` whose values are strings or
 * numbers. Other values are left out, because they have no meaning. A null in a later delta would
 * erase an earlier value, and a deeply nested value could not be serialized.
 */
function statedMembers({ type, id, format, signature, index }: JsonObject): JsonObject {
  const members = { type, id, format, signature, index }
  return Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => typeof value === 'string' || typeof value === 'number',
    ),
  )
}

import type { TextSink } from '#relay/canonical/answer-text-sink.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'

const FIELDS = ['reasoning_content', 'reasoning', 'content', 'refusal']
/**
 * The highest index of a choice or tool call whose text is collected separately. Without this
 * limit, a provider could exhaust the memory with invented indexes.
 */
const INDEX_MAX = 128
/**
 * The `place` (see `TextSink`) of all texts that are neither in one of the `FIELDS` nor in a tool
 * call.
 */
const REST = FIELDS.length + 2 * (INDEX_MAX + 1)

/**
 * Fields that contain short names, which are not counted as text. A value longer than
 * `NAME_LENGTH_MAX` is treated as base64 or text.
 */
const NAMES = new Set(['role', 'id', 'type', 'format', 'status', 'object'])
const NAME_LENGTH_MAX = 64
/** Fields that contain base64. A value that is not base64 is treated as text. */
const DATA = new Set(['data', 'b64_json', 'signature', 'thought_signature', 'encrypted_content'])
const BASE64 = /^[\w+/=-]*$/
const DATA_URL = /^data:[\w.+/-]{1,64};base64,[\w+/=-]*$/

/**
 * Passes the texts and the lengths of base64 data in the messages of a chat answer to the sink, at
 * any depth. Invalid JSON is ignored.
 */
export function readChatTexts(json: string, sink: TextSink): void {
  let choices: unknown
  try {
    choices = (JSON.parse(json) as { readonly choices?: unknown } | null)?.choices
  } catch {
    return
  }
  if (!Array.isArray(choices)) return
  for (const [at, choice] of (choices as (JsonObject | null)[]).entries()) {
    new MessageReader(sink, indexOf(choice, at)).read(choice)
  }
}

class MessageReader {
  private readonly sink: TextSink
  private readonly choice: number
  private message: JsonObject = {}

  constructor(sink: TextSink, choice: number) {
    this.sink = sink
    this.choice = choice
  }

  read(choice: JsonObject | null): void {
    const message = choice?.delta ?? choice?.message
    if (typeof message === 'object' && message !== null) {
      this.message = message as JsonObject
      for (const key in this.message) this.member(key, this.message[key])
    } else if (typeof message === 'string') this.member('content', message)
    if (typeof choice?.text === 'string') this.member('content', choice.text)
  }

  private member(key: string, value: unknown): void {
    const field = FIELDS.indexOf(key)
    if (field >= 0 && typeof value === 'string') this.take(field, value)
    else if (key === 'tool_calls' && Array.isArray(value)) this.toolCalls(value)
    else this.inner(field >= 0 ? field : REST, key, value)
  }

  private toolCalls(calls: readonly (JsonObject | null)[]): void {
    for (const [at, call] of calls.entries()) {
      const place = FIELDS.length + 2 * indexOf(call, at)
      const { name, ...others } = (call?.function ?? {}) as JsonObject
      if (typeof name === 'string') this.take(place, name)
      this.inner(place + 1, '', { ...call, function: others })
    }
  }

  /**
   * Passes every string inside `value` to the method `text`, at any depth and in document order.
   */
  private inner(place: number, name: string, value: unknown): void {
    const left: [string, unknown][] = [[name, value]]
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [key, inner] = next
      if (typeof inner === 'string') this.text(place, key, inner)
      else if (Array.isArray(inner)) {
        for (let at = inner.length - 1; at >= 0; at -= 1) left.push([key, inner[at]])
      } else if (typeof inner === 'object' && inner !== null) {
        for (const entry of Object.entries(inner).reverse()) left.push(entry)
      }
    }
  }

  private text(place: number, key: string, text: string): void {
    if (NAMES.has(key) && text.length <= NAME_LENGTH_MAX) return
    if (isData(key, text)) this.sink.data(text.length, isImage(key, text))
    else if (!this.isRepeated(text)) this.take(place, text)
  }

  /**
   * Reports whether the text is also the value of one of the message's `FIELDS`. Some providers
   * send the same text twice.
   */
  private isRepeated(text: string): boolean {
    return FIELDS.some((field) => this.message[field] === text)
  }

  private take(place: number, piece: string): void {
    this.sink.text(this.choice, place, piece)
  }
}

const isData = (key: string, text: string): boolean =>
  DATA.has(key) || NAMES.has(key)
    ? BASE64.test(text)
    : text.startsWith('data:') && DATA_URL.test(text)

const isImage = (key: string, text: string): boolean =>
  key === 'b64_json' || text.startsWith('data:image/')

function indexOf(part: JsonObject | null, at: number): number {
  const { index } = part ?? {}
  const isGiven = typeof index === 'number' && Number.isInteger(index) && index >= 0
  return Math.min(isGiven ? index : at, INDEX_MAX)
}

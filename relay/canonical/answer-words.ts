import { eventData } from './sse-scanner.ts'

/** Gets the pieces of what an answer says. */
export type WordSink = {
  /** `place` says which text of the choice the piece belongs to. */
  readonly words: (choice: number, place: number, piece: string) => void
  /** So many characters of base64: a picture, a sound or a signature, which says no words. */
  readonly data: (characters: number) => void
}

type Loose = Readonly<Record<string, unknown>>

const FIELDS = ['reasoning_content', 'reasoning', 'content', 'refusal']
/** Choices and tool calls beyond it are taken together, however many a provider makes up. */
const INDEX_MAX = 128
/** The text of all members that no place is kept for. */
const REST = FIELDS.length + 2 * (INDEX_MAX + 1)

/** Members that name something, while they are short. A longer one is base64, or words. */
const NAMES = new Set(['role', 'id', 'type', 'format', 'status', 'object'])
const NAME_LENGTH_MAX = 64
/** Members that hold base64, as far as nothing else is in them. */
const DATA = new Set(['data', 'b64_json', 'signature', 'thought_signature', 'encrypted_content'])
const BASE64 = /^[\w+/=-]*$/
const DATA_URL = /^data:[\w.+/-]{1,64};base64,[\w+/=-]*$/

/**
 * Goes through the words of one chunk, or of a whole answer: every text in its messages, at any
 * depth. JSON that can't be read has none.
 */
export function eachWord(json: string, sink: WordSink): void {
  let choices: unknown
  try {
    choices = (JSON.parse(json) as { readonly choices?: unknown } | null)?.choices
  } catch {
    return
  }
  if (!Array.isArray(choices)) return
  for (const [at, choice] of (choices as (Loose | null)[]).entries()) {
    new MessageReader(sink, indexOf(choice, at)).read(choice)
  }
}

/** Goes through the words of whole events. */
export function eachWordOfEvents(events: string, sink: WordSink): void {
  for (const event of events.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = eventData(Buffer.from(event))
    if (data !== null) eachWord(data, sink)
  }
}

/** Reads what one choice says. */
class MessageReader {
  private readonly sink: WordSink
  private readonly choice: number
  private message: Loose = {}

  constructor(sink: WordSink, choice: number) {
    this.sink = sink
    this.choice = choice
  }

  read(choice: Loose | null): void {
    const message = choice?.delta ?? choice?.message
    if (typeof message === 'object' && message !== null) {
      this.message = message as Loose
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

  private toolCalls(calls: readonly (Loose | null)[]): void {
    for (const [at, call] of calls.entries()) {
      const place = FIELDS.length + 2 * indexOf(call, at)
      const { name, ...others } = (call?.function ?? {}) as Loose
      if (typeof name === 'string') this.take(place, name)
      this.inner(place + 1, '', { ...call, function: others })
    }
  }

  /** Every text in the value, in the order in which they stand. */
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
    if (isData(key, text)) this.sink.data(text.length)
    else if (!this.isRepeated(text)) this.take(place, text)
  }

  /** Some providers send the same words in a field and, for other clients, in its details. */
  private isRepeated(text: string): boolean {
    return FIELDS.some((field) => this.message[field] === text)
  }

  private take(place: number, piece: string): void {
    this.sink.words(this.choice, place, piece)
  }
}

const isData = (key: string, text: string): boolean =>
  DATA.has(key) || NAMES.has(key)
    ? BASE64.test(text)
    : text.startsWith('data:') && DATA_URL.test(text)

function indexOf(part: Loose | null, at: number): number {
  const { index } = part ?? {}
  const isGiven = typeof index === 'number' && Number.isInteger(index) && index >= 0
  return Math.min(isGiven ? index : at, INDEX_MAX)
}

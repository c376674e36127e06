import { eventData } from './sse-scanner.ts'

/** A piece of what an answer says: of which choice, and of which of its texts. */
type Take = (choice: number, place: number, piece: string) => void

type Loose = Readonly<Record<string, unknown>>

const FIELDS = ['reasoning_content', 'reasoning', 'content', 'refusal']
/** Choices and tool calls beyond it are taken together, however many a provider makes up. */
const INDEX_MAX = 128

/** Goes through the words of one chunk, or of a whole answer; what is no JSON has none. */
export function eachWord(json: string, take: Take): void {
  let choices: unknown
  try {
    choices = (JSON.parse(json) as { readonly choices?: unknown } | null)?.choices
  } catch {
    return
  }
  if (!Array.isArray(choices)) return
  for (const [at, choice] of (choices as (Loose | null)[]).entries()) {
    const message = choice?.delta ?? choice?.message ?? { content: choice?.text }
    wordsOf(message, (place, piece) => take(indexOf(choice, at), place, piece))
  }
}

/** Goes through the words of whole events. */
export function eachWordOfEvents(events: string, take: Take): void {
  for (const event of events.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = eventData(Buffer.from(event))
    if (data !== null) eachWord(data, take)
  }
}

function wordsOf(message: unknown, take: (place: number, piece: string) => void): void {
  if (typeof message !== 'object' || message === null) return
  const words = message as Loose
  for (const [place, field] of FIELDS.entries()) {
    const value = words[field]
    if (typeof value === 'string') take(place, value)
  }
  if (!Array.isArray(words.tool_calls)) return
  for (const [at, call] of (words.tool_calls as (Loose | null)[]).entries()) {
    const { name, arguments: text } = (call?.function ?? {}) as Loose
    const place = FIELDS.length + 2 * indexOf(call, at)
    if (typeof name === 'string') take(place, name)
    if (typeof text === 'string') take(place + 1, text)
  }
}

function indexOf(part: Loose | null, at: number): number {
  const { index } = part ?? {}
  const isGiven = typeof index === 'number' && Number.isInteger(index) && index >= 0
  return Math.min(isGiven ? index : at, INDEX_MAX)
}

import { eventData } from './sse-scanner.ts'

const EVENTS_BYTES_MAX = 64 * 1024
const TEXT_LENGTH_MAX = 256 * 1024

/**
 * What a stream delivered, kept so that it can be counted if the provider never says. Events are
 * kept as they came and read only when 64 KB have gathered or somebody asks, so that a stream with
 * usage at its end costs nothing here. Beyond 256 K characters the text itself is let go and its
 * tokens are estimated.
 */
export class DeliveredText {
  private events: Buffer[] = []
  private eventBytes = 0
  private kept = ''
  private estimatedTokens = 0
  /** Bytes passed on, for deciding when progress is worth recording. */
  bytes = 0

  add(events: Buffer): void {
    this.events.push(events)
    this.eventBytes += events.length
    this.bytes += events.length
    if (this.eventBytes >= EVENTS_BYTES_MAX) this.digest()
  }

  /** The text that is to be counted, and the tokens of what was let go. */
  read(): { readonly text: string; readonly tokens: number } {
    this.digest()
    return { text: this.kept, tokens: this.estimatedTokens }
  }

  /** Tokens so far without a tokenizer; for progress. */
  roughTokens(): number {
    const { text, tokens } = this.read()
    return tokens + roughTokens(text)
  }

  private digest(): void {
    const text = textOfEvents(Buffer.concat(this.events).toString('utf8'))
    this.events = []
    this.eventBytes = 0
    this.kept += text
    if (this.kept.length <= TEXT_LENGTH_MAX) return
    this.estimatedTokens += roughTokens(this.kept)
    this.kept = ''
  }
}

/** A token for every four Latin characters, and for each of the others. */
export function roughTokens(text: string): number {
  let latin = 0
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) < 0x250) latin += 1
  }
  return Math.ceil(latin / 4) + (text.length - latin)
}

function textOfEvents(events: string): string {
  const parts: string[] = []
  for (const event of events.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = eventData(Buffer.from(event))
    if (data !== null) textOfAnswer(data, parts)
  }
  return parts.join('')
}

type Choice = { readonly delta?: unknown; readonly message?: unknown; readonly text?: unknown }

/** Adds the words of one chunk, or of a whole answer; what is no JSON adds nothing. */
export function textOfAnswer(json: string, parts: string[]): void {
  let choices: unknown
  try {
    choices = (JSON.parse(json) as { readonly choices?: unknown } | null)?.choices
  } catch {
    return
  }
  if (!Array.isArray(choices)) return
  for (const choice of choices as (Choice | null)[]) {
    addWords(choice?.delta ?? choice?.message ?? { content: choice?.text }, parts)
  }
}

function addWords(message: unknown, parts: string[]): void {
  if (typeof message !== 'object' || message === null) return
  const words = message as Record<string, unknown>
  for (const key of ['reasoning_content', 'reasoning', 'content', 'refusal']) {
    const value = words[key]
    if (typeof value === 'string') parts.push(value)
  }
  if (!Array.isArray(words.tool_calls)) return
  for (const call of words.tool_calls as ({ readonly function?: unknown } | null)[]) {
    const { name, arguments: text } = (call?.function ?? {}) as Record<string, unknown>
    if (typeof name === 'string') parts.push(name)
    if (typeof text === 'string') parts.push(text)
  }
}

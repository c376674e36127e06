import { jsonOrEmpty } from '#relay/canonical/json-values.ts'
import {
  type ConversationState,
  concatenated,
  type InputItems,
  joined,
} from './read-client-message.ts'

const ITEM_DONE = '"response.output_item.done"'
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])
const END_WORDS = ['"response.completed"', '"response.incomplete"']

/**
 * Collects the output of a response from its events, so that a later message can continue the
 * response. If the output is longer than `bytesMax`, the response can't be continued.
 */
export class OutputCollector {
  /** The id of the response; null until the response is complete. */
  id: string | null = null
  private readonly items: Buffer[] = []
  private bytesLeft: number

  constructor(bytesMax: number) {
    this.bytesLeft = bytesMax
  }

  /** Reads the data of one event of the response. */
  add(data: string): void {
    if (data.includes(ITEM_DONE)) this.addItem(data)
    else if (END_WORDS.some((word) => data.includes(word))) this.end(data)
  }

  /**
   * Returns the state with which a later message can continue the response, or null if the response
   * can't be continued. `input` has the elements of the response's complete input, or is null if
   * they are not known.
   */
  stateAfter(input: InputItems | null): ConversationState | null {
    if (input === null || this.id === null || this.bytesLeft < 0) return null
    const output = { json: joined(this.items), count: this.items.length }
    return { id: this.id, items: concatenated(input, output) }
  }

  private addItem(data: string): void {
    const { type, item: output } = parsed(data)
    if (type !== 'response.output_item.done' || typeof output !== 'object') return
    const item = output === null ? null : asInput(output)
    if (item === null) return
    const bytes = Buffer.from(jsonOrEmpty(item))
    // The item is nested too deeply to be sent again.
    if (bytes.length === 0) this.bytesLeft = -1
    this.bytesLeft -= bytes.length
    if (this.bytesLeft >= 0) this.items.push(bytes)
  }

  private end(data: string): void {
    const { type, response } = parsed(data)
    if (ENDS.has(type) && typeof response?.id === 'string') this.id = response.id
  }
}

type Event = {
  readonly type?: unknown
  readonly item?: OutputItem | null
  readonly response?: { readonly id?: unknown } | null
}

/** Parses an event. Returns an empty event if the provider sent invalid JSON. */
function parsed(data: string): Event {
  try {
    return JSON.parse(data) as Event
  } catch {
    return {}
  }
}

type OutputItem = { readonly type?: unknown; readonly id?: unknown; encrypted_content?: unknown }

/**
 * The types of items whose ids are removed, because the ids are valid only if the provider stores
 * the response.
 */
const WITHOUT_ID: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call'])

/**
 * Converts an item of a response's output to an item of an input. Returns null for a reasoning item
 * without `encrypted_content`, because only a provider that has stored the item could continue from
 * it, and the gateway does not know whether the item is stored.
 */
function asInput(item: OutputItem): object | null {
  if (item.type === 'reasoning' && typeof item.encrypted_content !== 'string') return null
  if (!WITHOUT_ID.has(item.type)) return item
  const { id: _id, ...rest } = item
  return rest
}

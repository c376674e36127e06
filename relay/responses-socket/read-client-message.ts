import { namesByFoldedName } from '#domain/shared/fold-name-case.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { flagOf, isMembers, modelOf } from '../dialects/check-common-request-members.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { type Member, scanObject } from '../dialects/scan-request-object.ts'

/**
 * A response that a later message can continue. `items` are the elements of its complete input and
 * of its output, as JSON that is separated by commas.
 */
export type ConversationState = { readonly id: string; readonly items: Buffer }

/** A message of a client of the socket. */
export type ClientMessage =
  /**
   * A call. `body` is its request over HTTP, and `items` are the elements of its complete input.
   * They are null if the call continues a response that only the provider knows.
   */
  | { readonly kind: 'call'; readonly body: Buffer; readonly items: Buffer | null }
  /** A request to prepare a call, which generates nothing. */
  | { readonly kind: 'warm-up'; readonly model: string; readonly items: Buffer }
  /** A notification that needs no answer. */
  | { readonly kind: 'ignored' }

const PREVIOUS = 'previous_response_id'
/** The members that only messages of a socket have, or whose value differs in a call over HTTP. */
const OWN = new Set(['type', 'generate', 'stream', 'input', PREVIOUS])
const NAMES = namesByFoldedName([...OWN, 'model'])
const TYPE_BYTES_MAX = 64
const ID_BYTES_MAX = 256
const COMMA = Buffer.from(',')
const NONE = Buffer.alloc(0)

/**
 * Reads a message. A message that continues `state` is completed by the items of the state, so that
 * any provider can answer it and the hold of the call covers its complete input.
 */
export function readMessage(
  bytes: Buffer,
  state: ConversationState | null,
): ClientMessage | RelayError {
  const members = scanObject(bytes, NAMES)
  if (!isMembers(members)) return jsonError(bytes, members)
  const find = (key: string) => members.find((member) => member.key === key)
  const type = shortText(bytes, find('type'), TYPE_BYTES_MAX)
  if (type === '"response.processed"') return { kind: 'ignored' }
  if (type !== '"response.create"') return relayError('invalid_parameter', { param: 'type' })
  const previous = find(PREVIOUS)
  const known = continuedItems(bytes, previous, state)
  const continued = known ?? NONE
  const input = find('input')
  const added = itemsOf(bytes, input)
  const items = joined([continued, added ?? NONE])
  const generate = find('generate')
  if (generate?.kind === 'false') {
    if (known === null) {
      const subject = shortText(bytes, previous, ID_BYTES_MAX)
      return relayError('previous_response_not_found', { param: PREVIOUS, subject })
    }
    const model = modelOf(bytes, find('model'))
    return typeof model === 'string' ? { kind: 'warm-up', model, items } : model
  }
  if (flagOf(generate) === null) return relayError('invalid_parameter', { param: 'generate' })
  const kept = members.filter(({ key }) => !OWN.has(key)).map((member) => textOf(bytes, member))
  if (added !== null || continued.length > 0) {
    kept.push(Buffer.concat([Buffer.from('"input":['), items, Buffer.from(']')]))
  } else if (input !== undefined) kept.push(textOf(bytes, input))
  // The pipeline of calls finds the response if the provider stores it.
  if (known === null && previous !== undefined) kept.push(textOf(bytes, previous))
  kept.push(Buffer.from('"stream":true'))
  const body = Buffer.concat([Buffer.from('{'), joined(kept), Buffer.from('}')])
  return { kind: 'call', body, items: known === null ? null : items }
}

/**
 * Returns the items of the response that a message continues. They are empty for a message that
 * continues no response. Returns null if the message does not continue the last response of the
 * socket.
 */
function continuedItems(
  bytes: Buffer,
  member: Member | undefined,
  state: ConversationState | null,
): Buffer | null {
  if (member === undefined || member.kind === 'null') return NONE
  const id = shortText(bytes, member, ID_BYTES_MAX)
  return state !== null && id === JSON.stringify(state.id) ? state.items : null
}

/** Returns the elements of an input. A text is one message. Null for any other value. */
function itemsOf(bytes: Buffer, input: Member | undefined): Buffer | null {
  if (input?.kind === 'array') {
    const inner = bytes.subarray(input.valueStart + 1, input.valueEnd - 1)
    return input.length === 0 ? NONE : inner
  }
  if (input?.kind !== 'string') return null
  const text = bytes.subarray(input.valueStart, input.valueEnd)
  const head = Buffer.from('{"type":"message","role":"user","content":')
  return Buffer.concat([head, text, Buffer.from('}')])
}

/** Joins the parts that are not empty by commas. */
export const joined = (parts: readonly Buffer[]): Buffer => {
  const present = parts.filter(({ length }) => length > 0)
  const [first] = present
  if (present.length === 1 && first !== undefined) return first
  return Buffer.concat(present.flatMap((part, at) => (at === 0 ? [part] : [COMMA, part])))
}

const textOf = (bytes: Buffer, { keyStart, valueEnd }: Member): Buffer =>
  bytes.subarray(keyStart, valueEnd)

/** Returns the beginning of a value in JSON. */
const shortText = (bytes: Buffer, member: Member | undefined, most: number): string =>
  member === undefined
    ? ''
    : bytes.toString('utf8', member.valueStart, Math.min(member.valueEnd, member.valueStart + most))

const ITEM_DONE = '"response.output_item.done"'
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])
const END_WORDS = ['"response.completed"', '"response.incomplete"']

/**
 * Collects the output of a response from its events, so that a later message can continue it. Items
 * above `bytesMax` are dropped, and the response then can't be continued.
 */
export class OutputCollector {
  /** The id of the response; null until it is complete. */
  id: string | null = null
  private readonly items: Buffer[] = []
  private bytesLeft: number

  constructor(bytesMax: number) {
    this.bytesLeft = bytesMax
  }

  /** Reads the data of one event. */
  add(data: string): void {
    if (data.includes(ITEM_DONE)) this.addItem(data)
    else if (END_WORDS.some((word) => data.includes(word))) this.end(data)
  }

  /** Returns the state after the response, or null if it can't be continued. */
  stateAfter(input: Buffer | null): ConversationState | null {
    if (input === null || this.id === null || this.bytesLeft < 0) return null
    return { id: this.id, items: joined([input, ...this.items]) }
  }

  private addItem(data: string): void {
    const { type, item: output } = parsed(data)
    if (type !== 'response.output_item.done' || typeof output !== 'object') return
    const item = output === null ? null : asInput(output)
    if (item === null) return
    const bytes = Buffer.from(JSON.stringify(item))
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

/** Returns the event, or an empty one for JSON that a provider wrote incorrectly. */
function parsed(data: string): Event {
  try {
    return JSON.parse(data) as Event
  } catch {
    return {}
  }
}

type OutputItem = { readonly type?: unknown; readonly id?: unknown; encrypted_content?: unknown }

/** The items whose ids refer to nothing if the provider does not store the response. */
const WITHOUT_ID: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call'])

/**
 * Returns an item of an answer as an item of an input. Reasoning that the answer does not contain
 * is left out, because the provider may not store it.
 */
function asInput(item: OutputItem): object | null {
  if (item.type === 'reasoning' && typeof item.encrypted_content !== 'string') return null
  if (!WITHOUT_ID.has(item.type)) return item
  const { id: _id, ...rest } = item
  return rest
}

/** Returns the items as a separate copy if they would otherwise keep a long message in memory. */
export const withoutSurroundings = (items: Buffer): Buffer =>
  items.length === items.buffer.byteLength ? items : Buffer.from(items)

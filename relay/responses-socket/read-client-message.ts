import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import { invalidParameter, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { flagOf, isMembers, modelOf } from '../dialects/read-common-request-members.ts'
import { type Member, scanObject } from '../dialects/scan-request-object.ts'

/** Elements of an input, as JSON separated by commas, and their number. */
export type InputItems = { readonly json: Buffer; readonly count: number }

/**
 * The last response on a socket, which a later message can continue. `items` are the elements of
 * the response's complete input and of its output.
 */
export type ConversationState = { readonly id: string; readonly items: InputItems }

/** A message that a client sent over the socket. */
export type ClientMessage =
  /**
   * A call. `body` is the body of the equivalent HTTP request. `items` are the elements of the
   * call's complete input, or null if the call continues a response that only the provider stores.
   * `insertedItems` is the number of items of earlier messages that were inserted before the items
   * of this message.
   */
  | {
      readonly kind: 'call'
      readonly body: Buffer
      readonly items: InputItems | null
      readonly insertedItems: number
    }
  /** A request that only prepares a later call and generates nothing. */
  | { readonly kind: 'warm-up'; readonly model: string; readonly items: InputItems }
  /** A notification that needs no response. */
  | { readonly kind: 'ignored' }

const PREVIOUS = 'previous_response_id'
/** The members that only messages on a socket have, or whose value differs in an HTTP request. */
const OWN = new Set(['type', 'generate', 'stream', 'input', PREVIOUS])
const NAMES = namesByFoldedName([...OWN, 'model'])
const TYPE_BYTES_MAX = 64
const ID_BYTES_MAX = 256
const COMMA = Buffer.from(',')
const NONE: InputItems = { json: Buffer.alloc(0), count: 0 }

/**
 * Reads a message. Returns an error if the message is invalid. If the message continues the
 * response in `state`, the items of this response are inserted before the message's input. Any
 * provider can then answer the call, and quota is reserved for the complete input.
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
  if (type !== '"response.create"') return invalidParameter('type')
  const previous = find(PREVIOUS)
  const known = continuedItems(bytes, previous, state)
  const continued = known ?? NONE
  const input = find('input')
  const added = itemsOf(bytes, input)
  const items = concatenated(continued, added ?? NONE)
  const generate = find('generate')
  if (generate?.kind === 'false') {
    if (known === null) {
      const subject = shortText(bytes, previous, ID_BYTES_MAX)
      return relayError('previous_response_not_found', { param: PREVIOUS, subject })
    }
    const model = modelOf(bytes, find('model'))
    return typeof model === 'string' ? { kind: 'warm-up', model, items } : model
  }
  if (flagOf(generate) === null) return invalidParameter('generate')
  const kept = members.filter(({ key }) => !OWN.has(key)).map((member) => textOf(bytes, member))
  if (added !== null || continued.count > 0) {
    kept.push(Buffer.concat([Buffer.from('"input":['), items.json, Buffer.from(']')]))
  } else if (input !== undefined) kept.push(textOf(bytes, input))
  // The member `previous_response_id` is kept, because a provider may store the previous response.
  // The pipeline of calls finds the channel of this response.
  if (known === null && previous !== undefined) kept.push(textOf(bytes, previous))
  kept.push(Buffer.from('"stream":true'))
  const body = Buffer.concat([Buffer.from('{'), joined(kept), Buffer.from('}')])
  const insertedItems = continued.count
  return { kind: 'call', body, items: known === null ? null : items, insertedItems }
}

/**
 * Returns the items of the response that a message continues. For a message that continues no
 * response, returns an empty list. For a message that continues another response than the last one
 * on the socket, returns null.
 */
function continuedItems(
  bytes: Buffer,
  member: Member | undefined,
  state: ConversationState | null,
): InputItems | null {
  if (member === undefined || member.kind === 'null') return NONE
  const id = shortText(bytes, member, ID_BYTES_MAX)
  return state !== null && id === JSON.stringify(state.id) ? state.items : null
}

/**
 * Returns the elements of the member `input`. A text becomes one message. Returns null for any
 * other value.
 */
function itemsOf(bytes: Buffer, input: Member | undefined): InputItems | null {
  if (input?.kind === 'array') {
    const inner = bytes.subarray(input.valueStart + 1, input.valueEnd - 1)
    return input.length === 0 ? NONE : { json: inner, count: input.length }
  }
  if (input?.kind !== 'string') return null
  const text = bytes.subarray(input.valueStart, input.valueEnd)
  const head = Buffer.from('{"type":"message","role":"user","content":')
  return { json: Buffer.concat([head, text, Buffer.from('}')]), count: 1 }
}

export const concatenated = (one: InputItems, other: InputItems): InputItems => ({
  json: joined([one.json, other.json]),
  count: one.count + other.count,
})

/** Joins pieces of JSON by commas. Empty pieces are omitted. */
export const joined = (parts: readonly Buffer[]): Buffer => {
  const present = parts.filter(({ length }) => length > 0)
  const [first] = present
  if (present.length === 1 && first !== undefined) return first
  return Buffer.concat(present.flatMap((part, at) => (at === 0 ? [part] : [COMMA, part])))
}

const textOf = (bytes: Buffer, { keyStart, valueEnd }: Member): Buffer =>
  bytes.subarray(keyStart, valueEnd)

/**
 * Returns the first `most` bytes of a member's value as JSON text, or an empty text if there is no
 * member.
 */
const shortText = (bytes: Buffer, member: Member | undefined, most: number): string =>
  member === undefined
    ? ''
    : bytes.toString('utf8', member.valueStart, Math.min(member.valueEnd, member.valueStart + most))

/**
 * Returns the items, copied if they are only a part of a longer buffer. Without the copy, they
 * would keep the complete message in memory.
 */
export const withoutSurroundings = ({ json, count }: InputItems): InputItems => ({
  json: json.length === json.buffer.byteLength ? json : Buffer.from(json),
  count,
})

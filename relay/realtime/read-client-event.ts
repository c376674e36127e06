import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { isRelayError, notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { isMembers } from '../dialects/read-common-request-members.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { checkMembers } from './check-member-names.ts'
import { readResponse, readSession, type SessionSettings } from './session-settings.ts'
import {
  base64Bytes,
  type ContentSize,
  NO_CONTENT,
  readItem,
  textContent,
  withContent,
} from './size-of-conversation-items.ts'

/**
 * The types of events that clients may send, with the members of each in addition to `type` and
 * `event_id`.
 */
const MEMBERS = {
  'session.update': ['session'],
  'input_audio_buffer.append': ['audio'],
  'input_audio_buffer.commit': [],
  'input_audio_buffer.clear': [],
  'output_audio_buffer.clear': [],
  'conversation.item.create': ['previous_item_id', 'item'],
  'conversation.item.truncate': ['item_id', 'content_index', 'audio_end_ms'],
  'conversation.item.delete': ['item_id'],
  'conversation.item.retrieve': ['item_id'],
  'response.create': ['response'],
  'response.cancel': ['response_id'],
} as const

type EventType = keyof typeof MEMBERS

const EVERY_EVENT = ['type', 'event_id']
const NAMES = namesByFoldedName([...EVERY_EVENT, ...Object.values(MEMBERS).flat()])
const ID_LENGTH_MAX = 512

/** An event of a client that was checked. `body` is the event that is sent to the provider. */
export type ClientEvent = {
  readonly type: EventType
  /** The id that the caller gave to the event; null if it has none. */
  readonly id: string | null
  /**
   * The id with which the event is sent to the provider. It replaces the caller's id, because a
   * caller could use an id twice.
   */
  readonly sentId: string
  readonly body: JsonObject
  /** The size of the content that the event adds to the input of the next response. */
  readonly content: ContentSize
  /** The settings in an event `session.update`; null for other events. */
  readonly settings: SessionSettings | null
  /**
   * The output limit in tokens in an event `response.create`. It is null for `inf`, and undefined
   * if the event has no limit.
   */
  readonly outputTokensMax: number | null | undefined
  /**
   * The number of bytes per second of output audio in an event `response.create`; undefined if the
   * event has no format.
   */
  readonly outputRate: number | undefined
}

/** An event of a client that is refused. `id` is null if the event has no valid id. */
type RefusedEvent = { readonly error: RelayError; readonly id: string | null }

/**
 * Parses and checks an event of a client. `model` is the caller's name for the model of the
 * session.
 */
export function readClientEvent(bytes: Buffer, model: string): ClientEvent | RefusedEvent {
  const members = scanObject(bytes, NAMES)
  if (!isMembers(members)) return { error: jsonError(bytes, members), id: null }
  const event = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>
  const { event_id } = event
  const id = typeof event_id === 'string' && event_id.length <= ID_LENGTH_MAX ? event_id : null
  const checked = checkEvent(event, id, model)
  return isRelayError(checked) ? { error: checked, id } : checked
}

/** `id` is the valid id that the caller gave to the event; null if it gave none. */
function checkEvent(
  event: Record<string, unknown>,
  id: string | null,
  model: string,
): ClientEvent | RelayError {
  const { type, event_id } = event
  if (!isEventType(type)) return notOneOf('type', Object.keys(MEMBERS))
  const error = checkMembers(event, [...EVERY_EVENT, ...MEMBERS[type]], '')
  if (error !== null) return error
  if (event_id !== undefined && event_id !== null && id === null) {
    return relayError('invalid_parameter', { param: 'event_id' })
  }
  const sentId = `event_${newCallId(Date.now())}`
  const body = { ...event, event_id: sentId }
  const none = { content: NO_CONTENT, settings: null, outputRate: undefined }
  const plain = { type, id, sentId, body, ...none, outputTokensMax: undefined }
  if (type === 'session.update') return sessionUpdate(plain, event.session, model)
  if (type === 'response.create') return responseCreate(plain, event.response)
  if (type === 'conversation.item.create') {
    const content = readItem(event.item, 'item')
    return isRelayError(content) ? content : { ...plain, content }
  }
  if (type !== 'input_audio_buffer.append') return plain
  const audioBytes = base64Bytes(event.audio)
  if (audioBytes === null) return relayError('invalid_parameter', { param: 'audio' })
  return { ...plain, content: { ...NO_CONTENT, audioBytes } }
}

const isEventType = (type: unknown): type is EventType =>
  typeof type === 'string' && Object.hasOwn(MEMBERS, type)

function sessionUpdate(
  event: ClientEvent,
  value: unknown,
  model: string,
): ClientEvent | RelayError {
  const settings = readSession(value, model, 'session')
  if (isRelayError(settings)) return settings
  const { session } = settings
  return { ...event, settings, content: textContent(session), body: { ...event.body, session } }
}

function responseCreate(event: ClientEvent, value: unknown): ClientEvent | RelayError {
  if (value === undefined || value === null) {
    const { response: _, ...body } = event.body
    return { ...event, body }
  }
  const response = readResponse(value)
  if (isRelayError(response)) return response
  const { outputTokensMax, outputRate } = response
  const { input, ...others } = response.response
  let content = textContent(others)
  const ids = new Set<unknown>()
  for (const [at, item] of (Array.isArray(input) ? input : []).entries()) {
    const param = `response.input[${at}]`
    const added = readItem(item, param, ids)
    if (isRelayError(added)) return added
    content = withContent(content, added)
  }
  return {
    ...event,
    outputTokensMax,
    outputRate,
    content,
    body: { ...event.body, response: response.response },
  }
}

import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { eventData } from '../canonical/sse-scanner.ts'
import { STORED_ID } from '../dialects/openai-responses/find-input-items-and-tools.ts'
import type { StoredResponse } from './stored-response-owners.ts'

/**
 * The maximum length of a response whose items are read. Parsing a longer one would block the event
 * loop.
 */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024
/** The number of bytes at the start of a longer response that are searched for its id. */
const HEAD_BYTES = 1_024
/**
 * Matches the id at the start of a response, before any member that a caller can write, such as
 * `metadata`.
 */
const ID_OF_RESPONSE = /^\s*\{\s*"id"\s*:\s*"([\w.:-]{1,128})"/
/** Matches the members of an event that precede its response. */
const EVENT_START = /^\s*\{\s*(?:"(?:type|sequence_number)"\s*:\s*[\w."]+\s*,\s*)*"response"\s*:/

type Identity = Pick<StoredResponse, 'responseId' | 'itemIds'>

/**
 * Returns the ids of a complete response and of its items. For a very long response, returns only
 * its own id. Returns null for any other answer.
 */
export const idsInResponse = (body: Buffer): Identity | null =>
  body.length > RESPONSE_BYTES_MAX ? ownIdIn(headOf(body)) : idsInJson(body.toString('utf8'))

const headOf = (body: Buffer): string => body.toString('utf8', 0, HEAD_BYTES)

function ownIdIn(start: string): Identity | null {
  const responseId = ID_OF_RESPONSE.exec(start)?.[1]
  return responseId === undefined ? null : { responseId, itemIds: [] }
}

function idsInJson(json: string): Identity | null {
  const event = parsedObject(json)
  const response = objectOf(event?.response) ?? event
  const { id, output } = response ?? {}
  if (typeof id !== 'string' || !STORED_ID.test(id)) return null
  const items = Array.isArray(output) ? output : []
  const itemIds = items.flatMap((item) => {
    const itemId = objectOf(item)?.id
    return typeof itemId === 'string' && STORED_ID.test(itemId) ? [itemId] : []
  })
  return { responseId: id, itemIds }
}

/** Returns the ids in the last event of a stream, as `idsInResponse` does. */
export function idsInEvent(event: Buffer): Identity | null {
  if (event.length > RESPONSE_BYTES_MAX) {
    const responseId = idInStartOfEvent(event)
    return responseId === null ? null : { responseId, itemIds: [] }
  }
  const data = eventData(event)
  return data === null ? null : idsInJson(data)
}

/**
 * Returns the id of the response in an event, and reads only the first bytes of the event. Returns
 * null if the event has no such id.
 */
export function idInStartOfEvent(event: Buffer): string | null {
  const data = eventData(headOf(event)) ?? ''
  const [before] = EVENT_START.exec(data) ?? []
  return before === undefined ? null : (ownIdIn(data.slice(before.length))?.responseId ?? null)
}

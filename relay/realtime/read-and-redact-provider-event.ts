import {
  isObject,
  type JsonObject,
  objectOrEmpty,
  parsedObject,
} from '#relay/canonical/json-values.ts'
import { redactMembers } from '../canonical/redact-provider-texts.ts'

export type ServerEvent = JsonObject & { readonly type: string }

/** Parses an event of the provider. Returns null if the data is not a JSON object with a `type`. */
export function readServerEvent(data: Buffer): ServerEvent | null {
  const event = parsedObject(data)
  return typeof event?.type === 'string' ? (event as ServerEvent) : null
}

/**
 * Returns the description of a session that the caller receives. This description has the caller's
 * name for the model and lacks the provider's temporary key.
 */
export function visibleSession(session: unknown, model: string): Record<string, unknown> {
  const { client_secret: _secret, ...members } = objectOrEmpty(session)
  return 'model' in members ? { ...members, model } : members
}

/**
 * Returns an error event of the provider without keys, accounts and addresses. `eventId` is the
 * caller's id of the event that caused the error; undefined if this id is not known.
 */
export function visibleError(
  { error, ...event }: ServerEvent,
  confidential: readonly string[],
  call: string,
  eventId?: string | null,
): object {
  const shown = redactMembers(objectOrEmpty(error), confidential, call)
  return { ...event, error: eventId === undefined ? shown : { ...shown, event_id: eventId } }
}

/**
 * Returns the event of a response as the caller receives it. If the response failed, keys, accounts
 * and addresses are removed from its error.
 */
export function visibleResponse(
  event: ServerEvent,
  confidential: readonly string[],
  call: string,
): object {
  const { response } = event
  if (!isObject(response) || !isObject(response.status_details)) return event
  const details = redactMembers(response.status_details, confidential, call)
  return { ...event, response: { ...response, status_details: details } }
}

export const idOf = (value: unknown): string =>
  isObject(value) && typeof value.id === 'string' ? value.id : ''

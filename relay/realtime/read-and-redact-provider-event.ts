import { redactMembers } from '../canonical/redact-provider-texts.ts'
import { isObject } from './size-of-conversation-items.ts'

export type ServerEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** Reads an event of the provider. Null for anything else. */
export function readServerEvent(data: Buffer): ServerEvent | null {
  try {
    const event: unknown = JSON.parse(data.toString('utf8'))
    return isObject(event) && typeof event.type === 'string' ? (event as ServerEvent) : null
  } catch {
    return null
  }
}

/**
 * Returns a session as the caller sees it: with the caller's name for the model, and without the
 * provider's temporary key.
 */
export function visibleSession(session: unknown, model: string): Record<string, unknown> {
  const { client_secret: _secret, ...members } = isObject(session) ? session : {}
  return 'model' in members ? { ...members, model } : members
}

/**
 * Returns an error of the provider without keys, accounts and addresses. `eventId` is the caller's
 * id of the event that caused it.
 */
export function visibleError(
  { error, ...event }: ServerEvent,
  confidential: readonly string[],
  call: string,
  eventId?: string | null,
): object {
  const shown = redactMembers(isObject(error) ? error : {}, confidential, call)
  return { ...event, error: eventId === undefined ? shown : { ...shown, event_id: eventId } }
}

/** Returns a response with an error in its details as the caller sees it. */
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

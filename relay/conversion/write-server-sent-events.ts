import type { JsonObject } from '#relay/canonical/json-values.ts'

/**
 * Returns a server-sent event without a name. Serialized JSON contains no line breaks, so one
 * `data` line is enough.
 */
export const dataEvent = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`

/** Returns a server-sent event with a name in the field `event`. */
export const namedEvent = (name: string, data: JsonObject): string =>
  `event: ${name}\n${dataEvent(data)}`

/** The event that ends a stream in OpenAI's chat format. It is not JSON. */
export const DONE_EVENT = 'data: [DONE]\n\n'

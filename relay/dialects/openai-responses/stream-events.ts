import { combineReports } from '#relay/canonical/combine-usage-reports.ts'
import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import type { EventMeaning, StreamFormat } from '../stream-format.ts'

/**
 * Matches the last event of a stream: by its name, by its type at the start of its data, or
 * `[DONE]`.
 */
const LAST =
  /^(?:event: ?|data: ?\{\s*"type"\s*:\s*")response\.(?:completed|incomplete)["\s]|^data: ?\[DONE\]/m
/**
 * The number of bytes of an event that are searched. The name and the type are at the start of an
 * event.
 */
const LAST_BYTES = 96

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])

function readEvent(event: JsonObject, isErrorEvent: boolean): EventMeaning {
  const { type } = event
  const response = objectOf(event.response)
  const isBare = type === undefined && objectOf(event.error) !== null
  const isError = isErrorEvent || type === 'error' || type === 'response.failed' || isBare
  const meaning = {
    usage: objectOf(response?.usage) ?? undefined,
    model: response?.model,
    serviceTier: response?.service_tier,
    isError,
    isUsageOnly: false,
    isLast: ENDS.has(type),
  }
  return isError ? { ...meaning, error: errorIn(event, response) } : meaning
}

/** Returns the error of an event in the form of an error response's body. */
function errorIn(event: JsonObject, response: JsonObject | null): object {
  const { code, message, param } = event
  return { error: objectOf(response?.error) ?? objectOf(event.error) ?? { code, message, param } }
}

export const RESPONSES_STREAM: StreamFormat = {
  isLastEvent: (bytes, start, end) =>
    LAST.test(bytes.toString('latin1', start, Math.min(end, start + LAST_BYTES))),
  // A text or a tool's arguments usually end the response. More items may follow, but rarely do.
  finishReason:
    /"type"\s*:\s*"response\.(?:output_text|refusal|function_call_arguments|custom_tool_call_input)\.done"/,
  readEvent: (event, isErrorEvent) => readEvent(event as JsonObject, isErrorEvent),
  beginsAnswer: ({ type, response }) =>
    textOrEmpty(type).startsWith('response.') || objectOf(response) !== null,
  combineUsage: combineReports,
  outputCount: (usage) => objectOf(usage)?.output_tokens,
  // The last event repeats the complete answer with its pictures, so it may be as long as the
  // answer.
  eventBytesMax: 32 * 1024 * 1024,
  repeatsRequest: true,
}

/**
 * Renders a complete response as a stream. Each text of a message and the arguments of each call of
 * a function or custom tool are sent as one delta. All other items have no deltas.
 */
export function streamOfResponse(body: Buffer): string {
  const response = objectOrEmpty(JSON.parse(body.toString('utf8')))
  const items = Array.isArray(response.output) ? response.output : []
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const status = response.status === 'incomplete' ? 'incomplete' : 'completed'
  const isFailed = response.status === 'failed'
  const events: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((item, index) => eventsOfItem(objectOrEmpty(item), index)),
    { type: `response.${isFailed ? 'failed' : status}`, response },
  ]
  return events
    .map(({ type, ...members }, sequence_number) => ({ type, sequence_number, ...members }))
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

/** The members of an item that are sent as one delta, each with the name of the delta's events. */
const DELTAS = [
  { type: 'function_call', member: 'arguments', name: 'function_call_arguments' },
  { type: 'custom_tool_call', member: 'input', name: 'custom_tool_call_input' },
] as const

function eventsOfItem(item: JsonObject, output_index: number): JsonObject[] {
  const position = { item_id: item.id, output_index }
  const delta = DELTAS.find(({ type }) => type === item.type)
  const text = delta === undefined ? undefined : item[delta.member]
  const isMessage = item.type === 'message'
  const parts = isMessage && Array.isArray(item.content) ? item.content : []
  const added = {
    ...item,
    ...(item.status === undefined ? {} : { status: 'in_progress' }),
    ...(isMessage ? { content: [] } : {}),
    ...(delta === undefined ? {} : { [delta.member]: '' }),
  }
  const inner = parts.flatMap((part, at) =>
    eventsOfPart(objectOrEmpty(part), { ...position, content_index: at }),
  )
  if (delta !== undefined && typeof text === 'string') {
    const { name, member } = delta
    inner.push(
      { type: `response.${name}.delta`, ...position, delta: text },
      { type: `response.${name}.done`, ...position, [member]: text },
    )
  }
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...inner,
    { type: 'response.output_item.done', output_index, item },
  ]
}

function eventsOfPart(part: JsonObject, position: JsonObject): JsonObject[] {
  const [name, member] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text']
  const text = part[member]
  const begun = { type: 'response.content_part.added', ...position }
  const ended = { type: 'response.content_part.done', ...position, part }
  if (typeof text !== 'string') return [{ ...begun, part }, ended]
  return [
    { ...begun, part: { ...part, [member]: '' } },
    { type: `response.${name}.delta`, ...position, delta: text },
    { type: `response.${name}.done`, ...position, [member]: text },
    ended,
  ]
}

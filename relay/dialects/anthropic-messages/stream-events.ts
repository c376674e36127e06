import { isCount, largerCount } from '#relay/canonical/combine-usage-reports.ts'
import { type JsonObject, objectOf, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { isOutsideTotal } from '#relay/canonical/read-anthropic-usage-for-billing.ts'
import type { EventMeaning, StreamFormat } from '../stream-format.ts'

/** Matches the last event of a stream, by its name or by its type at the start of its data. */
const STOP = /^event: ?message_stop\s|^data: ?\{\s*"type"\s*:\s*"message_stop"/m
/**
 * The number of bytes of an event that are searched. The name and the type are at the start of an
 * event.
 */
const STOP_BYTES = 96

/** The members of a usage whose values are objects with counts. */
const PARTS = new Set(['cache_creation', 'server_tool_use'])

/**
 * Combines the usage in the first event with the usage in a later event. Counts are cumulative, so
 * the larger count is kept. A later zero or invalid count must not make the call cheaper.
 */
function combineUsage(earlier: unknown, later: unknown): JsonObject {
  const combined: Record<string, unknown> = { ...objectOf(earlier) }
  for (const [name, value] of Object.entries(objectOrEmpty(later))) {
    const before = combined[name]
    if (Array.isArray(before)) combined[name] = combineIterations(before, value)
    else if (isInvalidToolCount(name, value)) combined[name] = value
    else if (typeof before === 'number') combined[name] = largerCount(before, value)
    else if (PARTS.has(name) && objectOf(before) !== null) {
      combined[name] = combineUsage(before, value)
    } else if (value !== null) combined[name] = value
  }
  return combined
}

/**
 * Reports whether a value is an invalid count of web searches. Such a count replaces a valid one,
 * so that the gateway counts the searches in the answer instead.
 */
const isInvalidToolCount = (name: string, value: unknown): boolean =>
  name === 'web_search_requests' && value !== null && !isCount(value)

/**
 * Combines the lists of iterations in two usages of a stream. The lists only grow during the
 * stream. An iteration whose tokens the total does not include (see `isOutsideTotal`) keeps its
 * type. Its tokens are therefore still added to the total.
 */
function combineIterations(earlier: readonly unknown[], later: unknown): readonly unknown[] {
  if (!Array.isArray(later)) return earlier
  const longer = later.length > earlier.length ? later : earlier
  return longer.map((_iteration, index) => {
    const before = earlier[index]
    const combined = combineUsage(before, later[index])
    return isOutsideTotal(before) ? { ...combined, type: before.type } : combined
  })
}

function readEvent(event: JsonObject, isErrorEvent: boolean): EventMeaning {
  const message = objectOf(event.message)
  const isBare = event.type === undefined && objectOf(event.error) !== null
  return {
    usage: objectOf(message?.usage) ?? objectOf(event.usage) ?? undefined,
    model: message?.model,
    isError: isErrorEvent || event.type === 'error' || isBare,
    isUsageOnly: false,
    isLast: event.type === 'message_stop',
  }
}

export const ANTHROPIC_STREAM: StreamFormat = {
  isLastEvent: (bytes, start, end) =>
    STOP.test(bytes.toString('latin1', start, Math.min(end, start + STOP_BYTES))),
  finishReason: /"stop_reason"\s*:\s*"/,
  readEvent: (event, isErrorEvent) => readEvent(event as JsonObject, isErrorEvent),
  beginsAnswer: ({ message, content_block: block, delta }) =>
    [message, block, delta].some((part) => objectOf(part) !== null),
  combineUsage,
  outputCount: (usage) => objectOf(usage)?.output_tokens,
  ping: 'event: ping\ndata: {"type":"ping"}\n\n',
}

const eventOf = (data: JsonObject): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** Renders a complete message as a stream. Each member in `DELTAS` is sent as one delta. */
export function streamOfMessage(body: Buffer): string {
  const message = objectOrEmpty(JSON.parse(body.toString('utf8')))
  const { content, stop_reason, stop_sequence, usage, ...rest } = message
  const blocks = Array.isArray(content) ? content : []
  const begun = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage }
  const { output_tokens } = objectOrEmpty(usage)
  return [
    { type: 'message_start', message: begun },
    ...blocks.flatMap((block, index) => eventsOfBlock(objectOrEmpty(block), index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens } },
    { type: 'message_stop' },
  ]
    .map(eventOf)
    .join('')
}

/**
 * The members of a content block that are sent as deltas. `empty` is the member's value before its
 * deltas.
 */
const DELTAS = [
  { member: 'thinking', empty: '', type: 'thinking_delta', name: 'thinking' },
  { member: 'signature', empty: '', type: 'signature_delta', name: 'signature' },
  { member: 'text', empty: '', type: 'text_delta', name: 'text' },
  { member: 'input', empty: {}, type: 'input_json_delta', name: 'partial_json' },
] as const

function eventsOfBlock(block: JsonObject, index: number): JsonObject[] {
  const begun: Record<string, unknown> = { ...block }
  const deltas: JsonObject[] = []
  for (const { member, empty, type, name } of DELTAS) {
    const value = block[member]
    if (value === undefined) continue
    begun[member] = empty
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    deltas.push({ type: 'content_block_delta', index, delta: { type, [name]: text } })
  }
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas,
    { type: 'content_block_stop', index },
  ]
}

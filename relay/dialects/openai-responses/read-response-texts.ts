import type { ToolName } from '#domain/pricing/usage.ts'
import type { TextSink } from '#relay/canonical/answer-text-sink.ts'
import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  parsedObject,
} from '#relay/canonical/json-values.ts'

/**
 * The highest index of an item or part whose text is collected separately. Without this limit, a
 * provider could exhaust the memory with invented indexes.
 */
const INDEX_MAX = 128
/** The values of `place` for the names of called tools, and for other texts without an index. */
const NAME = 2 * (INDEX_MAX + 1)
const REST = NAME + 1

/** The types of items that are sent without deltas, each with the member that the model wrote. */
const WRITTEN_AT_ONCE: ReadonlyMap<unknown, string> = new Map([
  ['local_shell_call', 'action'],
  ['computer_call', 'action'],
  ['tool_search_call', 'arguments'],
])

/**
 * Passes the texts, the lengths of binary data and the tool uses in a response to the sink. `json`
 * is a complete response, or the data of one stream event. In a stream, texts that have deltas are
 * read only from the deltas, because the last events repeat these texts. Invalid JSON is ignored.
 */
export function readResponseTexts(json: string, sink: TextSink): void {
  const value = parsedObject(json)
  if (value === null) return
  const { type, output, item } = value
  if (typeof type === 'string') return readEvent(type, value, objectOf(item), sink)
  if (!Array.isArray(output)) return
  readTools(output, sink)
  for (const [at, each] of output.entries()) readItem(objectOf(each), Math.min(at, INDEX_MAX), sink)
}

/**
 * The types of items in which the provider used a tool, each with the tool's name in the price
 * list.
 */
const TOOL_ITEMS: ReadonlyMap<unknown, ToolName> = new Map<unknown, ToolName>([
  ['file_search_call', 'file_search'],
  ['image_generation_call', 'image_generation'],
])
/**
 * The actions with which the web search tool only reads a page that an earlier search found. These
 * actions have no price.
 */
const READING_ACTIONS: ReadonlySet<unknown> = new Set(['open_page', 'find_in_page'])

/**
 * Passes the tool use in an item to the sink. A use counts as soon as its item begins, because a
 * caller who disconnects must not pay less. The last event of a stream repeats the items, so the
 * sink counts uses with the same id once.
 */
function readTool(item: JsonObject | null, index: number, sink: TextSink): void {
  if (item === null || sink.tool === undefined) return
  const { type, container_id: container } = item
  const id = typeof item.id === 'string' ? item.id : `${index}`
  if (type === 'web_search_call') {
    const isBilled = !READING_ACTIONS.has(objectOf(item.action)?.type)
    // Only one of the two search tools is sent to the provider. The limit of the other one is 0, so
    // its uses are not billed.
    sink.tool('web_search', id, isBilled)
    sink.tool('web_search_preview', id, isBilled)
  } else if (type === 'code_interpreter_call') {
    // A container is charged once, regardless of how many programs run in it, so its id identifies
    // the use.
    const isInContainer = typeof container === 'string'
    sink.tool('code_interpreter', id, !isInContainer)
    if (isInContainer) sink.tool('code_interpreter', container)
  } else {
    const name = TOOL_ITEMS.get(type)
    if (name !== undefined) sink.tool(name, id)
  }
}

function readTools(output: unknown, sink: TextSink): void {
  if (!Array.isArray(output) || sink.tool === undefined) return
  for (const [index, item] of output.entries()) readTool(objectOf(item), index, sink)
}

function readEvent(type: string, event: JsonObject, item: JsonObject | null, sink: TextSink): void {
  const index = indexIn(event.output_index)
  readTool(item, index, sink)
  readTools(objectOf(event.response)?.output, sink)
  if (type.endsWith('.delta')) return readDelta(type, event, index, sink)
  if (type === 'response.output_item.added') readName(item, index, sink)
  if (type === 'response.output_item.done') readEndOfItem(item, index, sink)
  const picture = event.partial_image_b64
  if (typeof picture === 'string') sink.data(picture.length)
}

function readDelta(type: string, event: JsonObject, index: number, sink: TextSink): void {
  const { delta, content_index, summary_index } = event
  if (typeof delta !== 'string' || delta === '') return
  if (type === 'response.audio.delta') return sink.data(delta.length)
  const isSummary = summary_index !== undefined
  const place = 2 * indexIn(isSummary ? summary_index : content_index) + (isSummary ? 1 : 0)
  sink.text(index, place, delta)
}

function readName(item: JsonObject | null, index: number, sink: TextSink): void {
  if (typeof item?.name === 'string' && item.name !== '') sink.text(index, NAME, item.name)
}

/** Reads the part of a completed item's content that no delta contains. */
function readEndOfItem(item: JsonObject | null, index: number, sink: TextSink): void {
  if (item === null) return
  const { encrypted_content: encrypted, result, type } = item
  for (const data of [encrypted, result]) if (typeof data === 'string') sink.data(data.length)
  const member = WRITTEN_AT_ONCE.get(type)
  if (member !== undefined) readWritten(item[member], index, sink)
  if (sink.uncountedText !== undefined) readUncounted(item, sink.uncountedText)
}

/**
 * Passes on the texts that the model wrote for the provider's tools, and the output of its
 * programs. They are no part of the output that a provider charges.
 */
function readUncounted(item: JsonObject, receive: (text: string) => void): void {
  const { action, queries, outputs, revised_prompt: revised } = item
  const search = objectOrEmpty(action)
  const logs = Array.isArray(outputs) ? outputs.map((output) => objectOrEmpty(output).logs) : []
  const texts = [search.query, search.queries, search.pattern, queries, revised, logs].flat()
  for (const text of texts) if (typeof text === 'string') receive(text)
}

function readWritten(value: unknown, index: number, sink: TextSink): void {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  if (text !== '') sink.text(index, REST, text)
}

/** Passes the texts of an item of a complete response to the sink. */
function readItem(item: JsonObject | null, index: number, sink: TextSink): void {
  if (item === null) return
  readName(item, index, sink)
  for (const [isSummary, parts] of [item.content, item.summary].entries()) {
    if (!Array.isArray(parts)) continue
    for (const [at, part] of parts.entries()) {
      const { text, refusal } = objectOrEmpty(part)
      const place = 2 * Math.min(at, INDEX_MAX) + isSummary
      for (const piece of [text, refusal]) {
        if (typeof piece === 'string' && piece !== '') sink.text(index, place, piece)
      }
    }
  }
  for (const member of ['arguments', 'input', 'code', 'operation']) {
    if (WRITTEN_AT_ONCE.get(item.type) !== member) readWritten(item[member], index, sink)
  }
  readEndOfItem(item, index, sink)
}

const indexIn = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? Math.min(value, INDEX_MAX)
    : 0

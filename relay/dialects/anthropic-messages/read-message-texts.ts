import type { TextSink } from '#relay/canonical/answer-text-sink.ts'
import { isObject, objectOrEmpty, parsedObject } from '#relay/canonical/json-values.ts'

/**
 * The highest index of a content block whose text is collected separately. Without this limit, a
 * provider could exhaust the memory with invented indexes.
 */
const INDEX_MAX = 128

/**
 * The type of a block with a summary of the conversation, and the type of the stream deltas for
 * such a block.
 */
const COMPACTION: ReadonlySet<unknown> = new Set(['compaction', 'compaction_delta'])

/**
 * Passes the texts, the lengths of binary data and the web searches in an answer to the sink.
 * `json` is a complete message, or the data of one stream event. Invalid JSON is ignored.
 */
export function readMessageTexts(json: string, sink: TextSink): void {
  const value = parsedObject(json)
  if (value === null) return
  const { content, content_block: block, delta, index } = value
  if (Array.isArray(content)) {
    for (const [at, one] of content.entries()) readBlock(one, at, sink)
  } else {
    const at = typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : 0
    readBlock(block ?? delta, at, sink)
  }
}

/** The end of the types of blocks with the output of a program that the model wrote. */
const PROGRAM_RESULT = 'code_execution_tool_result'

/** Passes on the output of a program. It is no part of the output that a provider charges. */
function readOutput(output: unknown, sink: TextSink): void {
  const { stdout, stderr, content } = objectOrEmpty(output)
  for (const text of [stdout, stderr, content]) {
    if (typeof text === 'string') sink.uncountedText?.(text)
  }
}

function readBlock(block: unknown, index: number, sink: TextSink): void {
  if (!isObject(block)) return
  const place = Math.min(index, INDEX_MAX)
  const { type, name, text, thinking, partial_json, content, ...others } = block
  const { signature, data, input } = others
  if (type === 'server_tool_use' && name === 'web_search') sink.tool?.(name)
  if (type === 'tool_use' && typeof name === 'string') sink.text(0, place, name)
  const summary = COMPACTION.has(type) ? content : undefined
  for (const piece of [thinking, text, partial_json, summary]) {
    if (typeof piece === 'string' && piece !== '') sink.text(0, place, piece)
  }
  if (typeof type === 'string' && type.endsWith(PROGRAM_RESULT)) readOutput(content, sink)
  for (const piece of [signature, data]) {
    if (typeof piece === 'string') sink.data(piece.length)
  }
  if (typeof input !== 'object' || input === null) return
  const json = JSON.stringify(input)
  if (json !== '{}') sink.text(0, place, json)
}

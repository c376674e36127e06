import type { TextSink } from '#relay/canonical/answer-text-sink.ts'
import {
  type JsonObject,
  listOf,
  objectOf,
  objectOrEmpty,
  parsedObject,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'

/**
 * The highest index of a candidate whose text is collected separately. Without this limit, a
 * provider could exhaust the memory with invented indexes.
 */
const INDEX_MAX = 128

/**
 * The values of `place` (see `TextSink`) for a candidate's texts. Later chunks continue the same
 * texts.
 */
const TEXT = 0
const THOUGHT = 1
const OTHERS = 2

/**
 * Passes the texts, the lengths of binary data and the tool uses in an answer of Gemini's API to
 * the sink. `json` is a complete answer, or the data of one stream event. Invalid JSON is ignored.
 */
export function readCandidateTexts(json: string, sink: TextSink): void {
  const { candidates } = parsedObject(json) ?? {}
  if (!Array.isArray(candidates)) return
  for (const [at, one] of candidates.entries()) {
    const { content, index, groundingMetadata } = objectOrEmpty(one)
    readGrounding(objectOf(groundingMetadata), sink)
    const { parts } = objectOrEmpty(content)
    const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0
    const choice = Math.min(isIndex ? index : at, INDEX_MAX)
    for (const part of listOf(parts)) readPart(objectOf(part), choice, sink)
  }
}

/**
 * Passes the uses of Google's search and maps to the sink. Google charges once for each distinct,
 * non-empty query. The queries of both tools are in the same lists, and chunks of a stream may
 * repeat them.
 */
function readGrounding(grounding: JsonObject | null, sink: TextSink): void {
  if (grounding === null || sink.tool === undefined) return
  const { webSearchQueries, imageSearchQueries, groundingChunks } = grounding
  const isFromMaps = listOf(groundingChunks).some((chunk) => objectOf(objectOf(chunk)?.maps))
  const texts = [...listOf(webSearchQueries), ...listOf(imageSearchQueries)]
  const queries = texts.filter((query) => typeof query === 'string' && query.trim() !== '')
  for (const query of queries as string[]) {
    sink.tool('google_search', query)
    if (isFromMaps) sink.tool('google_maps', query)
  }
  if (isFromMaps && queries.length === 0) sink.tool('google_maps', '')
}

function readPart(part: JsonObject | null, choice: number, sink: TextSink): void {
  if (part === null) return
  const { text, thought, thoughtSignature, functionCall, inlineData } = part
  if (typeof text === 'string') sink.text(choice, thought === true ? THOUGHT : TEXT, text)
  if (typeof thoughtSignature === 'string') sink.data(thoughtSignature.length)
  const { data, mimeType } = objectOrEmpty(inlineData)
  if (typeof data === 'string') {
    // Pictures in thoughts are drafts. Providers count them as thoughts and not as images.
    const isImage = textOrEmpty(mimeType).startsWith('image/') && thought !== true
    sink.data(data.length, isImage)
  }
  const { name, args } = objectOrEmpty(functionCall)
  const { code } = objectOrEmpty(part.executableCode)
  const { output } = objectOrEmpty(part.codeExecutionResult)
  for (const other of [name, code, output]) {
    if (typeof other === 'string') sink.text(choice, OTHERS, other)
  }
  if (typeof args === 'object' && args !== null) sink.text(choice, OTHERS, JSON.stringify(args))
}

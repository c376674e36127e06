import type { TextSink } from '#relay/canonical/read-answer-texts.ts'
import { recordOf } from '../openai-chat/usage-in-answer.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * The highest index of a candidate whose text is collected separately. Without this limit, a
 * provider could exhaust memory with invented indexes.
 */
const INDEX_MAX = 128

/** The places of a candidate's texts. A text goes on in the next chunk of a stream. */
const TEXT = 0
const THOUGHT = 1
const OTHERS = 2

/**
 * Passes every text in an answer of Gemini's API, or in the data of one event, to the sink. Does
 * nothing for invalid JSON.
 */
export function readCandidateTexts(json: string, sink: TextSink): void {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return
  }
  const { candidates } = recordOf(value) ?? {}
  if (!Array.isArray(candidates)) return
  for (const [at, one] of candidates.entries()) {
    const { content, index } = recordOf(one) ?? {}
    const { parts } = recordOf(content) ?? {}
    const isIndex = typeof index === 'number' && Number.isInteger(index) && index >= 0
    const choice = Math.min(isIndex ? index : at, INDEX_MAX)
    for (const part of Array.isArray(parts) ? parts : []) readPart(recordOf(part), choice, sink)
  }
}

function readPart(part: JsonObject | null, choice: number, sink: TextSink): void {
  if (part === null) return
  const { text, thought, thoughtSignature, functionCall, inlineData } = part
  if (typeof text === 'string') sink.text(choice, thought === true ? THOUGHT : TEXT, text)
  if (typeof thoughtSignature === 'string') sink.data(thoughtSignature.length)
  const { data, mimeType } = recordOf(inlineData) ?? {}
  if (typeof data === 'string') {
    // Pictures in thoughts are drafts, which providers count as thoughts.
    const isImage = String(mimeType).startsWith('image/') && thought !== true
    sink.data(data.length, isImage)
  }
  const { name, args } = recordOf(functionCall) ?? {}
  const { code } = recordOf(part.executableCode) ?? {}
  const { output } = recordOf(part.codeExecutionResult) ?? {}
  for (const other of [name, code, output]) {
    if (typeof other === 'string') sink.text(choice, OTHERS, other)
  }
  if (typeof args === 'object' && args !== null) sink.text(choice, OTHERS, JSON.stringify(args))
}

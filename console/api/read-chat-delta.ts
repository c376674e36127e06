/** A tool that the model calls. `input` is JSON or, for some tools, a plain text. */
export type ToolCall = { readonly name: string; readonly input: string }

/** A part of a tool call. `index` is the position of the call in the answer. */
type ToolCallPart = ToolCall & { readonly index: number }

/** The next part of an answer. `images` are the addresses of pictures. */
export type ChatDelta = {
  readonly content: string
  readonly reasoning: string
  readonly images: readonly string[]
  readonly toolCalls: readonly ToolCallPart[]
}

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Reads the delta of a chat completion chunk. The transcript of audio and a refusal are part of the
 * content, because they are what the model says. Returns null if nothing of the delta is shown.
 */
export function readChatDelta(value: unknown): ChatDelta | null {
  const delta = objectOf(value)
  const said = [
    contentOf(delta.content),
    textOf(objectOf(delta.audio).transcript),
    textOf(delta.refusal),
  ]
  const content = said.join('')
  const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning)
  const images = objectsOf(delta.images).map(addressOf).filter(Boolean)
  const toolCalls = objectsOf(delta.tool_calls).map(toolCallOf)
  if (typeof delta.function_call === 'object' && delta.function_call !== null) {
    toolCalls.push(toolCallOf({ function: delta.function_call }, 0))
  }
  const isEmpty = content + reasoning === '' && images.length + toolCalls.length === 0
  return isEmpty ? null : { content, reasoning, images, toolCalls }
}

/** Adds the parts of tool calls to the calls so far. A part of an unknown index begins a call. */
export function withToolCalls(
  calls: readonly ToolCall[],
  parts: readonly ToolCallPart[],
): readonly ToolCall[] {
  const all = [...calls]
  for (const { index, name, input } of parts) {
    const at = Math.min(index, all.length)
    const call = all[at] ?? { name: '', input: '' }
    all[at] = { name: call.name + name, input: call.input + input }
  }
  return all
}

/** Returns the text of a content, which some providers send as a list of parts. */
const contentOf = (content: unknown): string =>
  textOf(content) ||
  objectsOf(content)
    .map(({ text }) => textOf(text))
    .join('')

function addressOf({ image_url: image, url }: JsonObject): string {
  return textOf(image) || textOf(objectOf(image).url) || textOf(url)
}

function toolCallOf(part: JsonObject, position: number): ToolCallPart {
  const called = objectOf(part.function ?? part.custom)
  const index = Number.isSafeInteger(part.index) ? Math.max(0, Number(part.index)) : position
  return { index, name: textOf(called.name), input: textOf(called.arguments ?? called.input) }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

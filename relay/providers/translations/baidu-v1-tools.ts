import { readCallId } from '#relay/conversion/answer-names.ts'
import type { AnswerPart, CanonicalEvent } from '#relay/conversion/canonical-answer.ts'
import {
  type CanonicalMessage,
  type CanonicalRequest,
  type ContentPart,
  ConversionError,
  type JsonObject,
  type ToolCallPart,
  type ToolResultPart,
} from '#relay/conversion/canonical-request.ts'
import { objectOf, textOrEmpty } from '#relay/conversion/json-fields.ts'

type Turn = JsonObject & { readonly role: 'user' | 'function' | 'assistant' }

/** Reports whether a conversation offers functions, or has calls of them. */
export const usesTools = ({ tools, messages }: CanonicalRequest): boolean =>
  tools.length > 0 || messages.some(({ parts }) => parts.some(isOfTool))

const isOfTool = ({ kind }: ContentPart): boolean => kind === 'tool-call' || kind === 'tool-result'

/**
 * Writes a conversation with calls of functions. Each turn has at most one call, and its result
 * follows. So parallel calls are written one after the other.
 */
export function writeTurns(messages: readonly CanonicalMessage[], losses: string[]): Turn[] {
  const results = new Map<string, ToolResultPart>()
  for (const { parts } of messages) {
    for (const part of parts) if (part.kind === 'tool-result') results.set(part.callId, part)
  }
  const turns: Turn[] = []
  for (const { role, parts } of messages) {
    if (role === 'system') losses.push('messages[].role')
    const text = textsIn(parts, losses)
    const calls = parts.filter((part) => part.kind === 'tool-call')
    if (role === 'assistant') writeAssistant(turns, text, calls, results)
    else if (text !== '') addText(turns, text)
  }
  const last = turns.at(-1)
  if (last === undefined || last.role === 'assistant') {
    throw new ConversionError('messages', 'The last message must be of the user or of a tool.')
  }
  return turns
}

function writeAssistant(
  turns: Turn[],
  text: string,
  calls: readonly ToolCallPart[],
  results: ReadonlyMap<string, ToolResultPart>,
): void {
  if (calls.length === 0) {
    const last = turns.at(-1)
    if (last?.role !== 'assistant') turns.push({ role: 'assistant', content: text })
    else turns[turns.length - 1] = { ...last, content: `${String(last.content)}\n\n${text}` }
    return
  }
  for (const [index, { id, name, argumentsJson }] of calls.entries()) {
    const result = results.get(id)
    if (result === undefined) {
      throw new ConversionError('messages', 'Each call of a tool must have a result.')
    }
    const call = { name, arguments: argumentsJson || '{}' }
    turns.push({ role: 'assistant', content: index === 0 ? text : '', function_call: call })
    turns.push({ role: 'function', name, content: resultText(result) })
  }
}

/** Adds a text of the user. It joins a result before it, because the roles must alternate. */
function addText(turns: Turn[], text: string): void {
  const last = turns.at(-1)
  if (last === undefined || last.role === 'assistant') turns.push({ role: 'user', content: text })
  else turns[turns.length - 1] = { ...last, content: `${String(last.content)}\n\n${text}` }
}

function resultText({ parts }: ToolResultPart): string {
  const other = parts.find(({ kind }) => kind !== 'text')
  if (other !== undefined) {
    throw new ConversionError(`messages[].content[] (${other.kind})`, 'The provider reads text.')
  }
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n\n')
}

function textsIn(parts: CanonicalMessage['parts'], losses: string[]): string {
  const texts: string[] = []
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
    else if (part.kind === 'thinking') losses.push('messages[].parts[] (thinking)')
  }
  return texts.join('\n\n')
}

/** Returns the members for the functions that are offered. */
export function functionMembers(
  { tools, toolChoice, allowsParallelCalls }: CanonicalRequest,
  losses: string[],
): JsonObject {
  if (tools.length === 0 || toolChoice?.kind === 'none') return {}
  if (toolChoice?.kind === 'required') losses.push('toolChoice')
  if (tools.some(({ isStrict }) => isStrict === true)) losses.push('tools[].strict')
  if (allowsParallelCalls === true) losses.push('allowsParallelCalls')
  const functions = tools.map(({ name, description, schema }) => ({
    name,
    description: description === '' ? name : description,
    parameters: schema,
  }))
  if (toolChoice?.kind !== 'tool') return { functions }
  const { name } = toolChoice
  return { functions, tool_choice: { type: 'function', function: { name } } }
}

type Called = { readonly id: string; readonly name: string; readonly json: string }

/**
 * Returns the call of a function in an answer or an event. Baidu's calls have no ids. An answer has
 * at most one call, so the id is made from that of the answer.
 */
export function calledIn({ function_call: call, id }: JsonObject): Called | null {
  const called = objectOf(call)
  const name = textOrEmpty(called?.name)
  if (called === null || name === '') return null
  return { id: readCallId(`call_${textOrEmpty(id)}`), name, json: textOrEmpty(called.arguments) }
}

export const callPart = ({ id, name, json }: Called): AnswerPart => ({
  ...{ kind: 'tool-call', id, name, argumentsJson: json === '' ? '{}' : json },
})

const CALL_PART = 2

export const callEvents = ({ id, name, json }: Called): readonly CanonicalEvent[] => [
  { kind: 'tool-call', choice: 0, part: CALL_PART, id, name },
  { kind: 'tool-arguments', choice: 0, part: CALL_PART, json: json === '' ? '{}' : json },
]

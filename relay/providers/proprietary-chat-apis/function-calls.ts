import { randomUUID } from 'node:crypto'
import type { AnswerPart, CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import {
  type CanonicalMessage,
  type CanonicalRequest,
  type ContentPart,
  ConversionError,
  type ToolCallPart,
  type ToolResultPart,
} from '#relay/canonical/canonical-request.ts'
import { type JsonObject, objectOf, textOrEmpty } from '#relay/canonical/json-values.ts'
import { callerPathOf } from '#relay/conversion/caller-paths-of-canonical-parts.ts'
import { readCallId } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'

type Turn = JsonObject & { readonly role: 'user' | 'function' | 'assistant' }

/** Reports whether a conversation offers functions or contains calls of functions. */
export const usesTools = ({ tools, messages }: CanonicalRequest): boolean =>
  tools.length > 0 || messages.some(({ parts }) => parts.some(isOfTool))

const isCall = (part: ContentPart): part is ToolCallPart => part.kind === 'tool-call'

const isOfTool = ({ kind }: ContentPart): boolean => kind === 'tool-call' || kind === 'tool-result'

/**
 * Writes a conversation with function calls. The format allows one call per turn, followed by the
 * call's result. Parallel calls are therefore written one after the other. Throws a
 * `ConversionError` if the last message is the assistant's, if a call has no result, and in the
 * cases of `resultsIn`.
 */
export function writeTurns(messages: readonly CanonicalMessage[], losses: string[]): Turn[] {
  const results = resultsIn(messages)
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

/**
 * Returns the tool results, by the ids of their calls. Each call is written with exactly one
 * result. Therefore, a `ConversionError` is thrown for a result without a call, and for a second
 * result of a call. It is also thrown if several calls have the same id: their result would be
 * written once per call, so that a short request could become much longer than its hold covers.
 */
function resultsIn(messages: readonly CanonicalMessage[]): ReadonlyMap<string, ToolResultPart> {
  const parts = messages.flatMap((message) => message.parts)
  const ids = parts.filter(isCall).map(({ id }) => id)
  const calls = new Set(ids)
  const results = parts.filter((part) => part.kind === 'tool-result')
  if (results.some(({ callId }) => !calls.has(callId))) {
    throw new ConversionError('messages', 'Each result of a tool must have its call.')
  }
  const byCall = new Map<string, ToolResultPart>()
  for (const result of results) {
    if (byCall.has(result.callId)) {
      throw new ConversionError(
        callerPathOf(result) ?? 'messages',
        'A call of a tool has one result.',
      )
    }
    byCall.set(result.callId, result)
  }
  if (calls.size !== ids.length) {
    throw new ConversionError('messages', 'Each call of a tool must have its own id.')
  }
  return byCall
}

function resultOf(id: string, results: ReadonlyMap<string, ToolResultPart>): ToolResultPart {
  const result = results.get(id)
  if (result !== undefined) return result
  throw new ConversionError('messages', 'Each call of a tool must have a result.')
}

/**
 * Returns a conversation in which each function call and its result become one text of the user.
 * Used for a provider that supports function calls, but does not accept their results.
 */
export function withCallsAsTexts(
  messages: readonly CanonicalMessage[],
  losses: string[],
): readonly CanonicalMessage[] {
  const results = resultsIn(messages)
  return messages.flatMap(({ role, parts }) => {
    const others = parts.filter((part) => !isOfTool(part))
    const texts = parts.flatMap((part) => {
      if (part.kind !== 'tool-call') return []
      const result = resultText(resultOf(part.id, results))
      return `The function ${part.name} was called with ${part.argumentsJson || '{}'}:\n${result}`
    })
    const own = others.length === 0 ? [] : [{ role, parts: others }]
    if (texts.length === 0) return own
    losses.push('messages[].parts[] (tool-call)')
    return [...own, { role: 'user' as const, parts: texts.map((text) => textPart(text)) }]
  })
}

const textPart = (text: string): ContentPart => ({ kind: 'text', text })

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
    const result = resultOf(id, results)
    const call = { name, arguments: argumentsJson || '{}' }
    turns.push({ role: 'assistant', content: index === 0 ? text : '', function_call: call })
    turns.push({ role: 'function', name, content: resultText(result) })
  }
}

/**
 * Adds a text of the user. If the last turn is a text of the user or the result of a function, the
 * text is appended to that turn, because the roles must alternate.
 */
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

/** Returns the functions as JSON objects, each with a name, a description and parameters. */
const functionsOf = (tools: CanonicalRequest['tools']): readonly JsonObject[] =>
  tools.map(({ name, description, schema }) => ({
    name,
    description: description === '' ? name : description,
    parameters: schema,
  }))

/**
 * Returns the functions for a provider that has no tool choice. If the model must call a certain
 * function, only this function is offered. If the model must call none, no function is offered.
 */
export function offeredFunctions(
  { tools, toolChoice, allowsParallelCalls }: CanonicalRequest,
  losses: string[],
): readonly JsonObject[] {
  if (toolChoice?.kind === 'none') return []
  const isForced = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool'
  if (tools.length > 0 && isForced) losses.push('toolChoice')
  noteLosses({ tools, allowsParallelCalls }, losses)
  return functionsOf(
    toolChoice?.kind === 'tool' ? tools.filter(({ name }) => name === toolChoice.name) : tools,
  )
}

/**
 * Adds strict tools and parallel calls to `losses`, because the objects of `functionsOf` can't
 * express them.
 */
function noteLosses(
  { tools, allowsParallelCalls }: Pick<CanonicalRequest, 'tools' | 'allowsParallelCalls'>,
  losses: string[],
): void {
  if (tools.some(({ isStrict }) => isStrict === true)) losses.push('tools[].strict')
  if (tools.length > 0 && allowsParallelCalls === true) losses.push('allowsParallelCalls')
}

/**
 * Returns the request members for the functions and the function choice. Returns no members if
 * there are no functions or the model must call none.
 */
export function functionMembers(
  { tools, toolChoice, allowsParallelCalls }: CanonicalRequest,
  losses: string[],
): JsonObject {
  if (tools.length === 0 || toolChoice?.kind === 'none') return {}
  if (toolChoice?.kind === 'required') losses.push('toolChoice')
  noteLosses({ tools, allowsParallelCalls }, losses)
  const functions = functionsOf(tools)
  if (toolChoice?.kind !== 'tool') return { functions }
  const { name } = toolChoice
  return { functions, tool_choice: { type: 'function', function: { name } } }
}

type Called = { readonly id: string; readonly name: string; readonly json: string }

/**
 * Returns the function call in an answer or an event, or null if there is none. The provider's
 * calls have no ids. An answer has at most one call, so the call's id is made from the answer's id.
 * If the answer has no id, the call's id is random, because the ids in a conversation must differ.
 */
export function calledIn({ function_call: call, id }: JsonObject): Called | null {
  const called = objectOf(call)
  const name = textOrEmpty(called?.name)
  if (called === null || name === '') return null
  const callId = readCallId(`call_${textOrEmpty(id) || randomUUID()}`)
  return { id: callId, name, json: textOrEmpty(called.arguments) }
}

export const callPart = ({ id, name, json }: Called): AnswerPart => ({
  ...{ kind: 'tool-call', id, name, argumentsJson: json === '' ? '{}' : json },
})

const CALL_PART = 2

export const callEvents = ({ id, name, json }: Called): readonly CanonicalEvent[] => [
  { kind: 'tool-call', choice: 0, part: CALL_PART, id, name },
  { kind: 'tool-arguments', choice: 0, part: CALL_PART, json: json === '' ? '{}' : json },
]

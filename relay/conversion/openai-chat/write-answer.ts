import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalAnswer, CanonicalChoice } from '../../canonical/canonical-answer.ts'
import type { ThinkingPart, ToolCallPart } from '../../canonical/canonical-request.ts'
import { inputOfArguments } from '../custom-tools-as-functions.ts'
import { finishReason } from './finish-reasons.ts'
import type { AnswerSettings } from './read-request.ts'
import { writeDetail } from './thinking-in-assistant-messages.ts'
import { writeUsage } from './usage.ts'

export type AnswerOptions = AnswerSettings & {
  /** The time of the answer, in Unix seconds. */
  readonly createdAt: number
}

/** Writes a complete answer. The usage is left out if the provider reported none. */
export function writeAnswer(answer: CanonicalAnswer, options: AnswerOptions): JsonObject {
  return {
    id: answer.id,
    object: 'chat.completion',
    created: options.createdAt,
    model: answer.model,
    choices: answer.choices.map((choice, index) => writeChoice(choice, index, options)),
    ...(answer.usage === null ? {} : { usage: writeUsage(answer.usage) }),
  }
}

function writeChoice(choice: CanonicalChoice, index: number, options: AnswerOptions): JsonObject {
  const { usesFunctionCall } = options
  const texts = (kind: 'text' | 'refusal'): string | null =>
    choice.parts.reduce<string | null>(
      (text, part) => (part.kind === kind ? (text ?? '') + part.text : text),
      null,
    )
  const refusal = texts('refusal')
  const calls = choice.parts.filter((part) => part.kind === 'tool-call')
  const thinking = choice.parts.filter((part) => part.kind === 'thinking')
  const content = { isRefused: refusal !== null, usesFunctionCall }
  return {
    index,
    message: {
      role: 'assistant',
      // Clients expect a string if there are no tool calls and no refusal.
      content: texts('text') ?? (calls.length > 0 || refusal !== null ? null : ''),
      refusal,
      ...writeThinkingParts(thinking),
      ...writeCalls(calls, options),
    },
    logprobs: choice.logprobs === null ? null : { content: choice.logprobs, refusal: null },
    finish_reason: finishReason(choice.stop, content),
  }
}

/**
 * Writes the thinking twice. Most clients show `reasoning_content`. `reasoning_details` is
 * OpenRouter's form, which also contains the signatures. Clients send the signatures back.
 */
function writeThinkingParts(parts: readonly ThinkingPart[]): JsonObject {
  if (parts.length === 0) return {}
  const text = parts.map((part) => part.text).join('')
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    reasoning_details: parts.map((part, at) => writeDetail(part, at)),
  }
}

function writeCalls(
  calls: readonly ToolCallPart[],
  { usesFunctionCall, custom }: AnswerOptions,
): JsonObject {
  const [first] = calls
  if (first === undefined) return {}
  if (usesFunctionCall) return { function_call: functionOf(first) }
  const written = calls.map((call) =>
    custom?.has(call.name) === true
      ? { ...callHead(call, 'custom'), custom: customOf(call) }
      : { ...callHead(call), function: functionOf(call) },
  )
  return { tool_calls: written }
}

const customOf = ({ name, argumentsJson }: ToolCallPart): JsonObject => ({
  name,
  input: inputOfArguments(argumentsJson),
})

const functionOf = ({ name, argumentsJson }: ToolCallPart): JsonObject => ({
  name,
  arguments: argumentsJson,
})

type CallHead = { readonly id: string; readonly signature?: string | undefined }

/** Returns the members of a tool call except the member whose name is its type. */
export const callHead = (
  { id, signature }: CallHead,
  type: 'function' | 'custom' = 'function',
): JsonObject => ({
  id,
  type,
  ...(signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature: signature } } }),
})

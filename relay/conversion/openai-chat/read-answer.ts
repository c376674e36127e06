import {
  type JsonObject,
  listOf,
  objectOf,
  objectOrEmpty,
  objectsOf,
  textOf,
} from '#relay/canonical/json-values.ts'
import type {
  AnswerPart,
  CanonicalAnswer,
  CanonicalChoice,
} from '../../canonical/canonical-answer.ts'
import type { TextPart, ThinkingPart, ToolCallPart } from '../../canonical/canonical-request.ts'
import { readAnswerId, readCallId, readModel } from '../limit-ids-model-names-and-token-counts.ts'
import { readStop } from './finish-reasons.ts'
import { callSignature } from './read-request-content.ts'
import { readThinkingParts, textsOfThinking } from './thinking-in-assistant-messages.ts'
import { readUsage } from './usage.ts'

/** The maximum number of choices, and of parts per choice, that are read. OpenAI allows no more. */
export const CHOICES_MAX = 128
export const PARTS_MAX = 128

/** Reads a complete answer. Content that can't be read is skipped. */
export function readAnswer(body: JsonObject, fallbackId = ''): CanonicalAnswer {
  const id = readAnswerId(body.id) || fallbackId
  const choices = objectsOf(body.choices)
    .slice(0, CHOICES_MAX)
    .map((choice, at) => ({ choice: readChoice(choice, id, at), index: indexOf(choice, at) }))
  return {
    id,
    model: readModel(body.model),
    choices: choices.toSorted((a, b) => a.index - b.index).map(({ choice }) => choice),
    usage: readUsage(body),
  }
}

function indexOf(choice: JsonObject, at: number): number {
  return typeof choice.index === 'number' ? choice.index : at
}

function readChoice(choice: JsonObject, answerId: string, at: number): CanonicalChoice {
  const message = objectOrEmpty(choice.message)
  const refusal = textOf(message.refusal) ?? ''
  const calls = toolCallsOf(message)
  const before: readonly AnswerPart[] = [
    ...readThinkingParts(message),
    ...readContentPieces(message.content),
    ...spokenText(message),
    ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
  ]
  const parts = [
    ...before,
    ...calls.flatMap((call, index) => readToolCall(call, answerId, at, index) ?? []),
  ].slice(0, PARTS_MAX)
  const kinds = new Set(parts.map(({ kind }) => kind))
  const tokens = objectsOf(objectOf(choice.logprobs)?.content)
  return {
    parts,
    ...readStop(choice, kinds),
    logprobs: tokens.length === 0 ? null : tokens,
  }
}

/**
 * Reads the content of an answer. The content is a text or, in Mistral's format, a list of texts
 * and thinking.
 */
export function readContentPieces(content: unknown): readonly (TextPart | ThinkingPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return listOf(content).flatMap((element): readonly (TextPart | ThinkingPart)[] => {
    const part = objectOrEmpty(element)
    const isThinking = part.type === 'thinking'
    const text = isThinking ? textsOfThinking(part.thinking) : (textOf(part.text) ?? '')
    return text === '' ? [] : [{ kind: isThinking ? 'thinking' : 'text', text }]
  })
}

/**
 * Returns the transcript of a spoken answer as a text. Returns nothing if the answer also has a
 * text.
 */
function spokenText(message: JsonObject): readonly TextPart[] {
  const transcript = textOf(objectOf(message.audio)?.transcript) ?? ''
  const hasText = readContentPieces(message.content).length > 0
  return transcript === '' || hasText ? [] : [{ kind: 'text', text: transcript }]
}

/**
 * Returns the tool calls of a message. If there are none, returns the call in the older form
 * (`function_call`), which has no id.
 */
function toolCallsOf(message: JsonObject): readonly JsonObject[] {
  const older = objectOf(message.function_call)
  const calls = objectsOf(message.tool_calls)
  return calls.length > 0 || older === null ? calls : [{ function: older }]
}

function readToolCall(
  call: JsonObject,
  answerId: string,
  choice: number,
  index: number,
): ToolCallPart | null {
  const called = objectOf(call.function)
  const name = textOf(called?.name) || null
  if (called === null || name === null) return null
  const signature = callSignature(call)
  return {
    kind: 'tool-call',
    id: readCallId(call.id) || madeUpCallId(answerId, choice, index),
    name,
    argumentsJson: argumentsText(called.arguments).trim() || '{}',
    ...(signature === null ? {} : { signature }),
  }
}

/** Returns the arguments of a tool call as JSON text. Some providers send an object instead. */
export function argumentsText(value: unknown): string {
  const object = objectOf(value)
  if (object === null) return textOf(value) ?? ''
  try {
    return JSON.stringify(object)
  } catch {
    // An object that is nested too deeply can be parsed, but not serialized again.
    return ''
  }
}

const ANSWER_ID_LENGTH = 24

/**
 * Creates an id for a tool call. The id contains the end of the answer's id, so that the ids in a
 * conversation differ. All formats accept the characters and the length of the id.
 */
export function madeUpCallId(answerId: string, choice: number, index: number): string {
  const answer = answerId.slice(-ANSWER_ID_LENGTH).replace(/[^A-Za-z0-9]/g, '')
  return `call_${answer}_${choice}_${index}`
}

import {
  isObject,
  type JsonObject,
  listOf,
  objectOrEmpty,
  parsedObject,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import type { AnswerPart, CanonicalAnswer } from '../../canonical/canonical-answer.ts'

import { readAnswerId, readCallId, readModel } from '../limit-ids-model-names-and-token-counts.ts'
import { readStopReason } from './stop-reasons.ts'
import { readUsage } from './usage.ts'
import { madeUpCallId } from './write-answer.ts'

/** The maximum number of parts that are read from one answer. A provider could send any number. */
export const PARTS_MAX = 128

/**
 * Reads a complete answer of `POST /v1/messages`. Blocks without a canonical form, such as calls of
 * tools that the provider runs, are skipped.
 */
export function readAnswer(body: JsonObject, fallbackId = ''): CanonicalAnswer {
  const id = readAnswerId(body.id) || fallbackId
  const blocks = listOf(body.content).slice(0, PARTS_MAX)
  const parts = blocks.flatMap((block, at) => readBlock(objectOrEmpty(block), id, at))
  const hasToolCalls = parts.some(({ kind }) => kind === 'tool-call')
  const stop = readStopReason(body.stop_reason, hasToolCalls)
  const refusal = stop === 'refusal' ? readRefusalExplanation(body.stop_details) : ''
  if (refusal !== '') parts.push({ kind: 'refusal', text: refusal })
  return {
    id,
    model: readModel(body.model),
    choices: [{ parts, stop, stopSequence: readStopSequence(body.stop_sequence), logprobs: null }],
    usage: readUsage(body.usage),
  }
}

/**
 * Returns the explanation in the `stop_details` of a refusal, or an empty string if there is none.
 */
export const readRefusalExplanation = (details: unknown): string =>
  textOrEmpty(objectOrEmpty(details).explanation)

export const readStopSequence = (sequence: unknown): string | null =>
  typeof sequence === 'string' ? sequence : null

function readBlock(block: JsonObject, answerId: string, at: number): AnswerPart[] {
  switch (block.type) {
    case 'text': {
      const text = textOrEmpty(block.text)
      return text === '' ? [] : [{ kind: 'text', text }]
    }
    case 'thinking': {
      const text = textOrEmpty(block.thinking)
      const signature = textOrEmpty(block.signature)
      if (signature !== '') return [{ kind: 'thinking', text, signature }]
      return text === '' ? [] : [{ kind: 'thinking', text }]
    }
    case 'redacted_thinking':
      return [{ kind: 'thinking', text: '', redacted: textOrEmpty(block.data) }]
    case 'tool_use': {
      const argumentsJson = inputJsonOf(block.input) ?? '{}'
      const id = readCallId(block.id) || madeUpCallId(answerId, at)
      return [{ kind: 'tool-call', id, name: textOrEmpty(block.name), argumentsJson }]
    }
    default:
      return []
  }
}

/** Returns the input of a tool as JSON text. Returns null if there is no valid input. */
export function inputJsonOf(input: unknown): string | null {
  // Some providers send the input as JSON in a string.
  if (typeof input === 'string') return parsedObject(input) === null ? null : input
  try {
    return isObject(input) ? JSON.stringify(input) : null
  } catch {
    // An object that is nested too deeply can be parsed, but not serialized again.
    return null
  }
}

import { type JsonObject, objectOf, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import {
  type AnswerPart,
  type CanonicalAnswer,
  FailedAnswer,
} from '../../canonical/canonical-answer.ts'
import { argumentsOfInput } from '../custom-tools-as-functions.ts'
import { ownContent } from './encrypted-content.ts'
import { readStop } from './stop-reason.ts'
import { textOfReasoning } from './text-of-reasoning-item.ts'
import { readUsage } from './usage.ts'

/** The maximum number of output items, of contents per item, and of parts that are read. */
export const PARTS_MAX = 128

/**
 * Reads a complete response. Content that can't be read is skipped, and so are calls of tools that
 * the provider ran. Throws `FailedAnswer` if the response has failed.
 */
export function readAnswer(body: JsonObject, fallbackId = ''): CanonicalAnswer {
  const failure = readFailure(body)
  if (failure !== null) throw new FailedAnswer(failure)
  const id = textOf(body.id) || fallbackId
  const items = objectsOf(body.output).slice(0, PARTS_MAX)
  const parts = items.flatMap((item, at) => readItem(item, id, at)).slice(0, PARTS_MAX)
  const hasCalls = parts.some(({ kind }) => kind === 'tool-call')
  const isRefused = parts.some(({ kind }) => kind === 'refusal')
  const tokens = items.flatMap(logprobsOf)
  const choice = {
    parts,
    stop: readStop(body, { hasCalls, isRefused }),
    stopSequence: null,
    logprobs: tokens.length === 0 ? null : tokens,
  }
  return { id, model: textOf(body.model) ?? '', choices: [choice], usage: readUsage(body) }
}

type Failure = { readonly type: string; readonly message: string }

/**
 * Returns the error of a failed or cancelled response. Returns null for any other response. The
 * message may contain confidential texts.
 */
export function readFailure(response: JsonObject): Failure | null {
  const error = objectOf(response.error)
  if (error !== null) return readError(error)
  const { status } = response
  return status === 'failed' || status === 'cancelled' ? { type: status, message: '' } : null
}

/**
 * Reads the members of an error. The code is preferred to the type, because the code is more
 * specific.
 */
export const readError = (error: JsonObject): Failure => ({
  type: textOf(error.code) || textOf(error.type) || 'error',
  message: textOf(error.message) ?? '',
})

function readItem(item: JsonObject, answerId: string, at: number): readonly AnswerPart[] {
  switch (item.type) {
    case 'message':
      return objectsOf(item.content)
        .slice(0, PARTS_MAX)
        .flatMap((content) => readText(content) ?? [])
    case 'reasoning':
      return readReasoning(item)
    case 'function_call':
    case 'custom_tool_call': {
      const name = calledName(item)
      if (name === null) return []
      const id = callId(item, answerId, at)
      return [{ kind: 'tool-call', id, name, argumentsJson: argumentsText(item) || '{}' }]
    }
    default:
      return []
  }
}

function readText(content: JsonObject): AnswerPart | null {
  const kind = content.type === 'refusal' ? 'refusal' : 'text'
  const text = textOf(content[kind]) ?? ''
  return text === '' ? null : { kind, text }
}

function readReasoning(item: JsonObject): readonly AnswerPart[] {
  const text = textOfReasoning(item)
  const encrypted = textOf(item.encrypted_content) ?? ''
  if (encrypted === '') return text === '' ? [] : [{ kind: 'thinking', text }]
  const own = ownContent(encrypted)
  return [{ kind: 'thinking', text, ...(text === '' ? { redacted: own } : { signature: own }) }]
}

const logprobsOf = (item: JsonObject): readonly JsonObject[] =>
  item.type === 'message'
    ? objectsOf(item.content).flatMap(({ logprobs }) => objectsOf(logprobs))
    : []

/** Returns the name of the called tool. Returns null for a call without a name. */
export const calledName = (item: JsonObject): string | null => textOf(item.name) || null

const ANSWER_ID_LENGTH = 24

/**
 * Returns the id of a tool call. If the provider sent neither `call_id` nor `id`, the id is created
 * from the answer's id and the position of the item (`at`).
 */
export function callId(item: JsonObject, answerId: string, at: number): string {
  const answer = answerId.slice(-ANSWER_ID_LENGTH).replace(/[^A-Za-z0-9]/g, '')
  return textOf(item.call_id) || textOf(item.id) || `call_${answer}_${at}`
}

/**
 * Returns the arguments of a tool call as JSON text. Some providers send an object instead. The
 * text input of a custom tool becomes the argument `input`.
 */
export function argumentsText(item: JsonObject): string {
  if (item.type === 'custom_tool_call') return argumentsOfInput(textOf(item.input) ?? '')
  const object = objectOf(item.arguments)
  return object === null ? (textOf(item.arguments) ?? '').trim() : JSON.stringify(object)
}

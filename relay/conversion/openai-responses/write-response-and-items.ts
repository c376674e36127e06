import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalAnswer } from '../../canonical/canonical-answer.ts'
import type {
  RefusalPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
} from '../../canonical/canonical-request.ts'
import { inputOfArguments } from '../custom-tools-as-functions.ts'
import type { CallerTools } from './convert-caller-tools-to-functions.ts'
import { encryptedCallSignature, encryptedForCaller } from './encrypted-content.ts'
import type { AnswerSettings } from './read-request.ts'
import type { WrittenStop } from './stop-reason.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type AnswerOptions = AnswerSettings & {
  /** The time of the answer, in Unix seconds. */
  readonly createdAt: number
  /** True if the gateway stores the response. */
  readonly isStored: boolean
}

const PREFIX = 'resp_'
const KEY_LENGTH_MAX = 40

/** Returns an id with the prefix by which clients recognize the id of a response. */
const responseId = (id: string): string => (id.startsWith(PREFIX) ? id : `${PREFIX}${id}`)

/** Creates the ids of the items of one answer, with the prefixes that OpenAI requires. */
export class ItemIds {
  private readonly key: string

  constructor(answerId: string) {
    this.key = answerId.replace(/[^A-Za-z0-9]/g, '').slice(-KEY_LENGTH_MAX)
  }

  idOf(prefix: 'msg' | 'rs' | 'fc' | 'ctc' | 'call', index: number): string {
    return `${prefix}_${this.key}_${index}`
  }
}

export const messageItem = (
  id: string,
  content: readonly JsonObject[],
  status: ItemStatus,
): JsonObject => ({ id, type: 'message', status, content, role: 'assistant' })

export const textContent = (text: string, logprobs: readonly JsonObject[] = []): JsonObject => ({
  type: 'output_text',
  annotations: [],
  logprobs,
  text,
})

export const refusalContent = (refusal: string): JsonObject => ({ type: 'refusal', refusal })

export const contentOf = (part: TextPart | RefusalPart): JsonObject =>
  part.kind === 'text' ? textContent(part.text) : refusalContent(part.text)

export const summaryContent = (text: string): JsonObject => ({ type: 'summary_text', text })

/**
 * Writes thinking as a reasoning item. The text is written as a summary, because clients show the
 * summary.
 */
export function reasoningItem(id: string, part: ThinkingPart): JsonObject {
  const encrypted = encryptedForCaller(part)
  return {
    id,
    type: 'reasoning',
    summary: part.text === '' ? [] : [summaryContent(part.text)],
    ...(encrypted === null ? {} : { encrypted_content: encrypted }),
  }
}

/** Writes an item that stores the signature of a tool call. The item is written before the call. */
export const callSignatureItem = (id: string, callId: string, signature: string): JsonObject => ({
  id,
  type: 'reasoning',
  summary: [],
  encrypted_content: encryptedCallSignature(callId, signature),
})

/** Returns the name of a called tool, and its namespace, as the caller knows them. */
function callerName(name: string, { namespaced }: CallerTools): JsonObject {
  const original = namespaced.get(name)
  return original === undefined ? { name } : { name: original.name, namespace: original.namespace }
}

/** Writes a call of a function, or of a tool with text input. */
export function callItem(
  id: string,
  call: ToolCallPart,
  status: ItemStatus,
  tools: CallerTools,
): JsonObject {
  const { argumentsJson } = call
  const isCustom = tools.custom.has(call.name)
  const input = isCustom ? { input: inputOfArguments(argumentsJson) } : { arguments: argumentsJson }
  const type = isCustom ? 'custom_tool_call' : 'function_call'
  return { id, type, status, ...input, call_id: call.id, ...callerName(call.name, tools) }
}

export type ResponseState = {
  readonly status: WrittenStop['status'] | 'in_progress' | 'failed'
  readonly incomplete_details: JsonObject | null
  readonly error: JsonObject | null
  readonly output: readonly JsonObject[]
  readonly usage: JsonObject | null
}

/**
 * Writes a response. It repeats the settings of its request that are short (`repeated`). The
 * member `store` precedes all texts of the request, because `withoutStoring` replaces the first
 * occurrence of `store`.
 */
export const writeResponse = (
  { id, model }: Pick<CanonicalAnswer, 'id' | 'model'>,
  state: ResponseState,
  { createdAt, isStored, repeated }: AnswerOptions,
): JsonObject => ({
  id: responseId(id),
  object: 'response',
  created_at: createdAt,
  background: false,
  store: isStored,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  user: null,
  ...repeated,
  ...state,
})

import type { AnswerPart, CanonicalEvent, StopReason } from '#relay/canonical/canonical-answer.ts'
import type {
  AnswerFormat,
  CanonicalRequest,
  Thinking,
} from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import {
  readAnswerId,
  readCallId,
} from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import { COMPATIBLE } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { writeMessages } from '#relay/conversion/openai-chat/write-messages.ts'
import { reportedUsage, usageEvents } from './build-answer-events.ts'
import type { ProviderError, ProviderEventReader, Translation } from './chat-translation.ts'
import { type Feature, lossesOf } from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>([
  ...(['tools', 'images', 'outputTokensMax', 'temperature', 'topP', 'topK', 'seed'] as const),
  ...(['presencePenalty', 'frequencyPenalty', 'stop', 'thinking', 'answerFormat'] as const),
])
/**
 * The rules for Cohere's messages, which are OpenAI's messages without the members for thinking.
 */
const MESSAGES = { ...COMPATIBLE, thinkingHistory: null }

function writeRequest(
  request: CanonicalRequest,
  { model, isStream }: { model: string; isStream: boolean },
) {
  const losses = lossesOf(request, FEATURES)
  const { sampling, outputTokensMax, answerFormat, thinking } = request
  if (request.allowsParallelCalls === false) losses.push('allowsParallelCalls')
  const messages = writeMessages(request, MESSAGES, losses)
  const members = {
    model,
    messages,
    stream: isStream,
    max_tokens: outputTokensMax,
    temperature: sampling.temperature,
    p: sampling.topP,
    k: sampling.topK,
    seed: sampling.seed,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    stop_sequences: sampling.stop.length === 0 ? null : sampling.stop,
    ...toolMembers(request, losses),
    response_format: formatOf(answerFormat),
    thinking: thinkingOf(thinking),
  }
  const present = Object.entries(members).filter(([, value]) => value !== null)
  return { value: Object.fromEntries(present), losses }
}

function toolMembers({ tools, toolChoice }: CanonicalRequest, losses: string[]): JsonObject {
  if (tools.length === 0) return {}
  // A request to Cohere can't name the tool to call. If the caller names one, only this tool is
  // offered, and the model must call a tool.
  const isNamed = toolChoice?.kind === 'tool'
  const named = isNamed ? tools.filter(({ name }) => name === toolChoice.name) : []
  const offered = named.length > 0 ? named : tools
  if (named.length > 0 && named.length < tools.length) losses.push('toolChoice')
  const kind = toolChoice?.kind
  return {
    tools: offered.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    tool_choice: kind === 'none' ? 'NONE' : kind === 'required' || isNamed ? 'REQUIRED' : null,
    strict_tools: tools.some(({ isStrict }) => isStrict === true) ? true : null,
  }
}

function formatOf(format: AnswerFormat | null): JsonObject | null {
  if (format === null) return null
  const schema = format.kind === 'schema' ? { json_schema: format.schema } : {}
  return { type: 'json_object', ...schema }
}

function thinkingOf(thinking: Thinking | null): JsonObject | null {
  if (thinking === null) return null
  if (thinking.kind === 'off') return { type: 'disabled' }
  const budget = thinking.kind === 'budget' ? { token_budget: thinking.tokens } : {}
  return { type: 'enabled', ...budget }
}

const STOPS: ReadonlyMap<unknown, StopReason> = new Map([
  ['COMPLETE', 'end'],
  ['STOP_SEQUENCE', 'stop-sequence'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool-calls'],
  ['ERROR', 'interrupted'],
  ['TIMEOUT', 'interrupted'],
])

/**
 * Returns the usage that Cohere bills (`billed_units`). If this usage is missing or invalid,
 * returns `tokens`, which also counts Cohere's own instructions.
 */
function usageOf(message: JsonObject) {
  const usage = objectOrEmpty(message.usage)
  const billed = objectOrEmpty(usage.billed_units)
  const tokens = objectOrEmpty(usage.tokens)
  return (
    reportedUsage(billed.input_tokens, billed.output_tokens) ??
    reportedUsage(tokens.input_tokens, tokens.output_tokens)
  )
}

function readAnswer(body: JsonObject) {
  const message = objectOrEmpty(body.message)
  if (textOf(message.role) === null) return null
  const plan = textOrEmpty(message.tool_plan)
  const parts: AnswerPart[] = plan === '' ? [] : [{ kind: 'thinking', text: plan }]
  for (const part of objectsOf(message.content)) {
    const thinking = textOrEmpty(part.thinking)
    if (thinking !== '') parts.push({ kind: 'thinking', text: thinking })
    const text = textOrEmpty(part.text)
    if (text !== '') parts.push({ kind: 'text', text })
  }
  for (const call of objectsOf(message.tool_calls)) {
    const called = objectOrEmpty(call.function)
    const argumentsJson = textOrEmpty(called.arguments) || '{}'
    const name = textOrEmpty(called.name)
    parts.push({ kind: 'tool-call', id: readCallId(call.id), name, argumentsJson })
  }
  const stop = STOPS.get(body.finish_reason) ?? 'end'
  const choice = { parts, stop, stopSequence: null, logprobs: null }
  return { id: readAnswerId(body.id), model: '', choices: [choice], usage: usageOf(body) }
}

/**
 * Reads an error. Cohere's errors contain only a message. An answer that ended with `ERROR` or
 * `TIMEOUT` is also an error, unless Cohere bills it.
 */
function readError(body: JsonObject, status: number): ProviderError | null {
  const reason = textOrEmpty(body.finish_reason)
  const isFailed = STOPS.get(reason) === 'interrupted' && usageOf(body) === null
  if (!isFailed && (status < 400 || body.message === undefined)) return null
  const message = textOf(body.message) ?? reason
  const type = status === 401 ? 'invalid_api_key' : 'cohere_error'
  return { status: status < 400 ? 502 : status, type, message }
}

const TEXTS = 0
const THINKING = 1
/** The index of the first part with a tool call. The parts 0 and 1 are text and thinking. */
const CALLS = 2

function createEventReader(): ProviderEventReader {
  return ({ data }) => {
    const event = parsedObject(data)
    if (event === null) return []
    const delta = objectOrEmpty(event.delta)
    const message = objectOrEmpty(delta.message)
    const index = typeof event.index === 'number' ? event.index : 0
    switch (event.type) {
      case 'message-start':
        return [{ kind: 'start', id: readAnswerId(event.id), model: '' }]
      case 'content-start':
      case 'content-delta':
        return contentEvents(objectOrEmpty(message.content))
      case 'tool-plan-delta':
        return contentEvents({ thinking: message.tool_plan })
      case 'tool-call-start':
      case 'tool-call-delta':
        return callEvents(event.type, objectOrEmpty(message.tool_calls), CALLS + index)
      case 'message-end':
        return lastEvents(delta)
      default:
        return []
    }
  }
}

function contentEvents(content: JsonObject): readonly CanonicalEvent[] {
  const text = textOrEmpty(content.text)
  const thinking = textOrEmpty(content.thinking)
  if (thinking !== '') return [{ kind: 'thinking', choice: 0, part: THINKING, text: thinking }]
  return text === '' ? [] : [{ kind: 'text', choice: 0, part: TEXTS, text }]
}

function callEvents(type: string, call: JsonObject, part: number): readonly CanonicalEvent[] {
  const called = objectOrEmpty(call.function)
  const json = textOrEmpty(called.arguments)
  const argumentEvents: readonly CanonicalEvent[] =
    json === '' ? [] : [{ kind: 'tool-arguments', choice: 0, part, json }]
  if (type === 'tool-call-delta') return argumentEvents
  const name = textOrEmpty(called.name)
  return [{ kind: 'tool-call', choice: 0, part, id: readCallId(call.id), name }, ...argumentEvents]
}

function lastEvents(delta: JsonObject): readonly CanonicalEvent[] {
  const reason = textOrEmpty(delta.finish_reason)
  const stop = STOPS.get(reason) ?? 'end'
  const usage = usageEvents(usageOf(delta))
  if (stop === 'interrupted') {
    const message = textOf(delta.error) ?? reason
    return [...usage, { kind: 'error', type: 'cohere_error', message }]
  }
  return [...usage, { kind: 'stop', choice: 0, stop, stopSequence: null }, { kind: 'end' }]
}

/** The API `/v2/chat` of Cohere. */
export const COHERE: Translation = { writeRequest, readAnswer, readError, createEventReader }

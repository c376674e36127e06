import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest, FileSource } from '#relay/canonical/canonical-request.ts'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  objectOrEmpty,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { readAnswerId } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import {
  endEvents,
  errorEvents,
  reportedUsage,
  singleAnswer,
  textEvents,
  usageEvents,
} from './build-answer-events.ts'
import type { ProviderError, ProviderEventReader, Translation } from './chat-translation.ts'
import {
  type Feature,
  lossesOf,
  textConversation,
  transcriptOf,
} from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>(['images', 'endUser'])

/**
 * Writes a chat as one question. Dify could continue a stored conversation, but a caller could then
 * name the conversation of another caller. Therefore, every call begins a new conversation with one
 * question, which contains all texts of the chat. The answer is always streamed, because Dify's
 * agents support nothing else.
 */
function writeRequest(request: CanonicalRequest) {
  const losses = lossesOf(request, FEATURES)
  const query = transcriptOf(textConversation(request, losses))
  const files = request.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'image' ? [fileOf(part.source)] : [])),
  )
  const value = {
    inputs: {},
    query,
    response_mode: 'streaming',
    conversation_id: '',
    user: request.endUser ?? 'tallygate',
    auto_generate_name: false,
    ...(files.length === 0 ? {} : { files }),
  }
  return { value, losses }
}

function fileOf(source: FileSource): JsonObject {
  if (source.kind === 'url') {
    return { type: 'image', transfer_method: 'remote_url', url: source.url }
  }
  const message = 'Dify takes images by their addresses.'
  throw new ConversionError('messages[].content[].image_url', message)
}

function usageIn(body: JsonObject) {
  const usage = objectOrEmpty(objectOrEmpty(body.metadata).usage)
  return reportedUsage(usage.prompt_tokens, usage.completion_tokens)
}

function readAnswer(body: JsonObject) {
  const text = textOf(body.answer)
  if (text === null) return null
  return singleAnswer(readAnswerId(body.message_id), [{ kind: 'text', text }], usageIn(body))
}

function readError(body: JsonObject, status: number): ProviderError | null {
  if (status < 400 && body.event !== 'error') return null
  const code = textOf(body.code) ?? 'dify_error'
  const message = textOrEmpty(body.message)
  const statusInBody = typeof body.status === 'number' && body.status >= 400 ? body.status : 502
  const errorStatus = status >= 400 ? status : statusInBody
  if (code === 'unauthorized') return { status: 401, type: 'invalid_api_key', message }
  if (code === 'provider_quota_exceeded')
    return { status: 429, type: 'insufficient_quota', message }
  return { status: errorStatus, type: code, message }
}

/** The names of the events that contain a piece of an answer, from assistants and from agents. */
const TEXT_EVENTS = new Set(['message', 'agent_message'])

function createEventReader(): ProviderEventReader {
  return ({ data }) => {
    const event = parsedObject(data)
    if (event === null) return []
    const name = textOrEmpty(event.event)
    const start: CanonicalEvent = { kind: 'start', id: readAnswerId(event.message_id), model: '' }
    if (TEXT_EVENTS.has(name)) return [start, ...textEvents(textOrEmpty(event.answer))]
    if (name === 'message_replace') return REPLACED
    if (name === 'message_end') return [start, ...usageEvents(usageIn(event)), ...endEvents()]
    const error = readError(event, 200)
    if (error !== null) return errorEvents(error)
    // A workflow may run for minutes before its first text, and causes costs from its first event.
    return start.id === '' ? [] : [start]
  }
}

/**
 * The events for an answer that Dify's moderation has replaced. Callers can't be made to discard
 * the text that they have already received, so the answer ends as a refusal.
 */
const REPLACED: readonly CanonicalEvent[] = [
  { kind: 'refusal', choice: 0, part: 2, text: 'The provider withdrew this answer.' },
]

/** The API `/v1/chat-messages` of Dify, in which the models are apps. */
export const DIFY: Translation = { writeRequest, readAnswer, readError, createEventReader }

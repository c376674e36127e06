import type { CanonicalRequest } from '#relay/canonical/canonical-request.ts'
import {
  type JsonObject,
  numericOf,
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
  textEvents,
  thinkingEvents,
  usageEvents,
} from './build-answer-events.ts'
import type {
  ProviderError,
  ProviderEventReader,
  Translation,
  TranslationTarget,
} from './chat-translation.ts'
import {
  type Feature,
  lastQuestion,
  lossesOf,
  textConversation,
} from './text-conversation-and-losses.ts'

const FEATURES = new Set<Feature>(['endUser'])

/**
 * Writes a chat with a bot. The answer is always streamed, because Coze would otherwise return only
 * the id of a conversation, which must be polled. The chat is not stored in the bot's history.
 */
function writeRequest(request: CanonicalRequest, { other }: TranslationTarget) {
  const losses = lossesOf(request, FEATURES)
  const conversation = textConversation(request, losses)
  lastQuestion(conversation)
  const { system, messages } = conversation
  const value = {
    bot_id: other,
    user_id: request.endUser ?? 'tallygate',
    stream: true,
    auto_save_history: false,
    // A bot has its own instructions, so the instructions of the request are put before the first
    // text.
    additional_messages: messages.map(({ role, text }, at) => ({
      role,
      type: role === 'user' ? 'question' : 'answer',
      content: at === 0 && system !== '' ? `${system}\n\n${text}` : text,
      content_type: 'text',
    })),
  }
  return { value, losses }
}

const INVALID_KEY = new Set([4100, 700_012_006])
const NO_BALANCE = new Set([4011, 4027, 4028])
const BUSY = new Set([4013, 4015])

/** Reads an error. Coze's errors usually have the HTTP status 200 and a code. */
function readError(body: JsonObject, status: number): ProviderError | null {
  const code = numericOf(body.code ?? 0)
  if (status < 400 && (code === 0 || Number.isNaN(code))) return null
  const message = textOf(body.msg) ?? textOrEmpty(body.message)
  if (INVALID_KEY.has(code)) return { status: 401, type: 'invalid_api_key', message }
  if (NO_BALANCE.has(code)) return { status: 429, type: 'insufficient_quota', message }
  const isWrong = code === 4000 || code === 4001
  const own = BUSY.has(code) ? 429 : code === 4101 ? 403 : code === 4200 ? 404 : isWrong ? 400 : 502
  return { status: status >= 400 ? status : own, type: `${code || 'coze_error'}`, message }
}

function usageIn(body: JsonObject) {
  const usage = objectOrEmpty(body.usage)
  return reportedUsage(usage.input_count, usage.output_count)
}

const errorEvent = (body: JsonObject) => {
  const error = readError(body, 200)
  return errorEvents(error ?? { status: 502, type: 'coze_error', message: '' })
}

/**
 * Creates a reader that returns the texts of answers, but not those of the bot's tools and
 * suggestions.
 */
function createEventReader(): ProviderEventReader {
  let hasText = false
  return ({ name, data }) => {
    const event = parsedObject(data) ?? {}
    switch (name) {
      case 'conversation.chat.created':
        return [{ kind: 'start', id: readAnswerId(event.id), model: '' }]
      case 'conversation.message.delta':
      case 'conversation.message.completed': {
        if (event.type !== 'answer') return []
        // A bot may send a complete answer without deltas. If there were deltas, the complete
        // answer repeats them.
        if (name.endsWith('completed') && hasText) return []
        const text = textEvents(textOrEmpty(event.content))
        const thinking = thinkingEvents(textOrEmpty(event.reasoning_content))
        if (text.length > 0) hasText = true
        return [...thinking, ...text]
      }
      case 'conversation.chat.completed':
        return [...usageEvents(usageIn(event)), ...endEvents()]
      case 'conversation.chat.failed':
        return errorEvent({ code: 5000, ...objectOrEmpty(event.last_error) })
      case 'conversation.chat.requires_action':
        return errorEvent({ code: 5000, msg: 'The bot waits for the result of a tool.' })
      case 'error':
        return errorEvent({ code: 5000, ...event })
      default:
        return []
    }
  }
}

/** The API `/v3/chat` of Coze, in which the models are bots. */
export const COZE: Translation = {
  writeRequest,
  // Every request asks for a stream.
  readAnswer: () => null,
  readError,
  createEventReader,
}

import type { ToolCall } from '#console/api/read-chat-delta.ts'
import { randomId } from '#console/ui/browser/random-id.ts'
import { withoutPictures } from './pictures.tsx'

/**
 * The settings of a conversation. `maxTokens` is 0 for no limit. `temperature` is in tenths: 7 is a
 * temperature of 0.7.
 */
export type ChatSettings = {
  readonly group: string
  readonly model: string
  readonly temperature: number
  readonly maxTokens: number
  readonly systemPrompt: string
}

/** The cost of an answer. `quota` is in quota units, as a decimal text. */
export type AnswerCost = {
  readonly logId: number
  readonly quota: string
  readonly promptTokens: number
  readonly completionTokens: number
}

type MessageStatus = 'loading' | 'incomplete' | 'complete' | 'error'

export type ChatMessage = {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly content: string
  readonly reasoning?: string
  /** The addresses of pictures that the answer has beside its text. */
  readonly images?: readonly string[]
  readonly toolCalls?: readonly ToolCall[]
  readonly status: MessageStatus
  readonly model?: string
  /** The id of the call that produced this answer. The usage log lists the call under this id. */
  readonly call?: string
  readonly firstMs?: number
  readonly totalMs?: number
  readonly isStopped?: boolean
  readonly cost?: AnswerCost
  /**
   * True if the page no longer waits for the cost of the answer. The usage log did not list the
   * call within the time limit, or the page was closed while it waited for the cost.
   */
  readonly isCostLate?: boolean
  readonly error?: { readonly message: string; readonly code: string; readonly requestId: string }
}

export type Conversation = {
  readonly id: string
  readonly settings: ChatSettings
  readonly messages: readonly ChatMessage[]
  /** The time of the last change in Unix milliseconds. */
  readonly changedAt: number
  /** The sum of the costs of removed answers, in quota units. */
  readonly spentBefore?: string
}

export const TEMPERATURES = { min: 1, max: 10 } as const
export const MAX_TOKENS_LIMIT = 10_000_000

export const DEFAULT_SETTINGS: ChatSettings = {
  group: '',
  model: 'gpt-4o-mini',
  temperature: 7,
  maxTokens: 0,
  systemPrompt: 'You are a helpful assistant.',
}

export const newConversation = (settings: ChatSettings, now: number): Conversation => ({
  id: randomId(),
  settings,
  messages: [],
  changedAt: now,
})

export const userMessage = (content: string): ChatMessage => ({
  id: randomId(),
  role: 'user',
  content,
  status: 'complete',
})

export const emptyAnswer = (model: string): ChatMessage => ({
  id: randomId(),
  role: 'assistant',
  content: '',
  status: 'loading',
  model,
})

export const isStreaming = ({ status }: ChatMessage): boolean =>
  status === 'loading' || status === 'incomplete'

/**
 * Returns the text of a message as it is sent. The pictures in an answer are sent only to the model
 * that generated them, because other models read them as text, which costs millions of tokens.
 */
const sentContent = ({ role, content, model }: ChatMessage, settings: ChatSettings): string =>
  role === 'user' || model === settings.model ? content : withoutPictures(content)

export function requestMessages({
  settings,
  messages,
}: Pick<Conversation, 'settings' | 'messages'>) {
  const system = settings.systemPrompt.trim()
  const sentMessages = messages.filter(({ role, content }) => role === 'user' || content !== '')
  return [
    ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
    ...sentMessages.map((one) => ({ role: one.role, content: sentContent(one, settings) })),
  ]
}

const TITLE_LENGTH = 60

export function titleOf({ messages }: Conversation): string {
  const text = messages[0]?.content.replace(/\s+/g, ' ').trim() ?? ''
  return text.length > TITLE_LENGTH ? `${text.slice(0, TITLE_LENGTH - 1)}…` : text
}

/**
 * Returns a message as it is stored in the browser. Pictures are removed, because a few of them
 * would fill the storage.
 */
export const storedMessage = (message: ChatMessage): ChatMessage => ({
  ...message,
  ...(message.role === 'user' ? {} : { content: withoutPictures(message.content) }),
  ...(message.images === undefined ? {} : { images: message.images.map(withoutImageData) }),
})

const withoutImageData = (address: string): string => (/^data:/i.test(address) ? 'data:' : address)

const costOfAll = (messages: readonly ChatMessage[]): bigint =>
  messages.reduce((sum, { cost }) => sum + BigInt(cost?.quota ?? 0), 0n)

export const conversationCost = ({ messages, spentBefore = '0' }: Conversation): bigint =>
  BigInt(spentBefore) + costOfAll(messages)

export function withMessages(
  one: Conversation,
  messages: readonly ChatMessage[],
  now: number,
): Conversation {
  const ids = new Set(messages.map(({ id }) => id))
  const removedCost = costOfAll(one.messages.filter(({ id }) => !ids.has(id)))
  const spentBefore = String(BigInt(one.spentBefore ?? 0) + removedCost)
  return { ...one, messages, changedAt: now, spentBefore }
}

/**
 * Returns the conversation with the cost of an answer. If the user has removed the answer, the cost
 * is added to `spentBefore`.
 */
export function withCost(
  conversation: Conversation,
  answerId: string,
  cost: AnswerCost,
): Conversation {
  const hasAnswer = conversation.messages.some(({ id }) => id === answerId)
  if (!hasAnswer) {
    return {
      ...conversation,
      spentBefore: String(BigInt(conversation.spentBefore ?? 0) + BigInt(cost.quota)),
    }
  }
  const messages = conversation.messages.map((message) =>
    message.id === answerId ? { ...message, cost } : message,
  )
  return { ...conversation, messages }
}

import {
  type ChatMessage,
  type ChatSettings,
  type Conversation,
  DEFAULT_SETTINGS,
  isStreaming,
  MAX_TOKENS_LIMIT,
  TEMPERATURES,
} from './conversation.ts'

export type StoredConversations = {
  readonly conversations: readonly Conversation[]
  readonly openId: string
}

/** The maximum number of stored conversations. If the browser's storage is full, fewer are kept. */
const CONVERSATIONS_MAX = 50

const keyOf = (userId: number): string => `playground-${userId}`

export function loadConversations(userId: number): StoredConversations {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(userId)) ?? 'null')
    const { conversations, openId } = (stored ?? {}) as Partial<StoredConversations>
    if (!Array.isArray(conversations)) return { conversations: [], openId: '' }
    const sound = conversations.filter(isConversation).map(withoutStreaming)
    return { conversations: sound, openId: typeof openId === 'string' ? openId : '' }
  } catch {
    return { conversations: [], openId: '' }
  }
}

export function storeConversations(
  userId: number,
  { conversations, openId }: StoredConversations,
): void {
  const keptConversations = conversations.filter(
    ({ id, messages }) => messages.length > 0 || id === openId,
  )
  const newest = keptConversations.toSorted((one, other) => other.changedAt - one.changedAt)
  for (
    let count = Math.min(newest.length, CONVERSATIONS_MAX);
    count >= 0;
    count = Math.trunc(count / 2)
  ) {
    try {
      const text = JSON.stringify({ conversations: newest.slice(0, count), openId })
      localStorage.setItem(keyOf(userId), text)
      return
    } catch {
      if (count === 0) return
    }
  }
}

/**
 * Marks an unfinished answer as complete. The page that was receiving the answer has been closed,
 * so no more text will arrive.
 */
const withoutStreaming = (conversation: Conversation): Conversation => ({
  ...conversation,
  settings: settingsOf(conversation.settings),
  messages: conversation.messages.map((message) =>
    isStreaming(message)
      ? { ...message, status: 'complete', isStopped: true, isCostLate: true }
      : { ...message, isCostLate: message.cost === undefined },
  ),
})

function settingsOf(stored: Partial<ChatSettings> | undefined): ChatSettings {
  const { group, model, temperature, maxTokens, systemPrompt } = stored ?? {}
  const { min, max } = TEMPERATURES
  return {
    group: typeof group === 'string' ? group : DEFAULT_SETTINGS.group,
    model: typeof model === 'string' ? model : DEFAULT_SETTINGS.model,
    temperature: integerWithin(temperature, min, max) ?? DEFAULT_SETTINGS.temperature,
    maxTokens: integerWithin(maxTokens, 0, MAX_TOKENS_LIMIT) ?? DEFAULT_SETTINGS.maxTokens,
    systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : DEFAULT_SETTINGS.systemPrompt,
  }
}

const integerWithin = (value: unknown, min: number, max: number): number | null =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : null

function isConversation(value: unknown): value is Conversation {
  const { id, messages, changedAt, spentBefore } = (value ?? {}) as Partial<Conversation>
  return (
    typeof id === 'string' &&
    typeof changedAt === 'number' &&
    (spentBefore === undefined || /^\d{1,30}$/.test(spentBefore)) &&
    Array.isArray(messages) &&
    messages.every(isMessage)
  )
}

const STATUSES = ['loading', 'incomplete', 'complete', 'error']

function isMessage(value: unknown): value is ChatMessage {
  const { id, role, content, status } = (value ?? {}) as Partial<ChatMessage>
  return (
    typeof id === 'string' &&
    (role === 'user' || role === 'assistant') &&
    typeof content === 'string' &&
    STATUSES.includes(status ?? '')
  )
}

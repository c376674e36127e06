import { useEffect, useRef, useState } from 'react'
import type { ToolCall } from '#console/api/read-chat-delta.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import {
  type AnswerCost,
  type ChatMessage,
  type ChatSettings,
  type Conversation,
  DEFAULT_SETTINGS,
  isStreaming,
  MAX_TOKENS_LIMIT,
  newConversation,
  storedMessage,
  TEMPERATURES,
  withCost,
  withMessages,
} from './conversation.ts'

const STORE_INTERVAL_MIN_MS = 1_000

export type Conversations = {
  readonly all: readonly Conversation[]
  readonly open: Conversation
  readonly setSettings: (patch: Partial<ChatSettings>) => void
  readonly setMessages: (
    id: string,
    change: (messages: readonly ChatMessage[]) => readonly ChatMessage[],
  ) => void
  readonly setCost: (id: string, answerId: string, cost: AnswerCost) => void
  readonly select: (id: string) => void
  /** Starts a conversation. Settings that are not given are taken from the open conversation. */
  readonly start: (settings?: Partial<ChatSettings>) => void
  readonly remove: (id: string) => void
}

/** Returns the user's conversations, which are stored only in this browser. */
export function useConversations(userId: number): Conversations {
  const [stored, setStored] = useState(() => withOpenConversation(loadConversations(userId)))
  useStoreConversations(userId, stored)
  const open = openOf(stored)
  const change = (id: string, to: (one: Conversation) => Conversation) =>
    setStored(({ conversations, openId }) => ({
      openId,
      conversations: conversations.map((one) => (one.id === id ? to(one) : one)),
    }))
  return {
    all: stored.conversations,
    open,
    setSettings: (patch) =>
      change(open.id, (one) => ({ ...one, settings: { ...one.settings, ...patch } })),
    setMessages: (id, to) => change(id, (one) => withMessages(one, to(one.messages), Date.now())),
    setCost: (id, answerId, cost) => change(id, (one) => withCost(one, answerId, cost)),
    select: (openId) => setStored(({ conversations }) => ({ conversations, openId })),
    start: (settings = {}) =>
      setStored((now) => {
        const others = now.conversations.filter(({ messages }) => messages.length > 0)
        const added = newConversation({ ...openOf(now).settings, ...settings }, Date.now())
        return { conversations: [added, ...others], openId: added.id }
      }),
    remove: (id) =>
      setStored((now) => {
        const conversations = now.conversations.filter((one) => one.id !== id)
        const fallback = newConversation(openOf(now).settings, Date.now())
        if (now.openId !== id) return { conversations, openId: now.openId }
        const next = conversations[0]
        return next === undefined
          ? { conversations: [fallback], openId: fallback.id }
          : { conversations, openId: next.id }
      }),
  }
}

/**
 * Stores the conversations in the browser after changes, at most once per interval, and when the
 * user leaves the page.
 */
function useStoreConversations(userId: number, stored: StoredConversations): void {
  const latest = useRef(stored)
  latest.current = stored
  const storeSoon = useThrottledCallback(
    () => storeConversations(userId, latest.current),
    STORE_INTERVAL_MIN_MS,
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: saves every change
  useEffect(storeSoon, [stored, storeSoon])
  useEffect(() => {
    const storeNow = () => storeConversations(userId, latest.current)
    window.addEventListener('pagehide', storeNow)
    return () => {
      window.removeEventListener('pagehide', storeNow)
      storeNow()
    }
  }, [userId])
}

function withOpenConversation(stored: StoredConversations): StoredConversations {
  const openConversation =
    stored.conversations.find(({ id }) => id === stored.openId) ?? stored.conversations[0]
  if (openConversation !== undefined) return { ...stored, openId: openConversation.id }
  const added = newConversation(DEFAULT_SETTINGS, Date.now())
  return { conversations: [added], openId: added.id }
}

function openOf({ conversations, openId }: StoredConversations): Conversation {
  const open = conversations.find(({ id }) => id === openId)
  if (open === undefined) throw new Error('no conversation is open')
  return open
}

type StoredConversations = {
  readonly conversations: readonly Conversation[]
  readonly openId: string
}

/** The maximum number of stored conversations. If the browser's storage is full, fewer are kept. */
const CONVERSATIONS_MAX = 50

const keyOf = (userId: number): string => `playground-${userId}`

function loadConversations(userId: number): StoredConversations {
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

function storeConversations(userId: number, { conversations, openId }: StoredConversations): void {
  const keptConversations = conversations.filter(
    ({ id, messages }) => messages.length > 0 || id === openId,
  )
  const newest = keptConversations
    .toSorted((one, other) => other.changedAt - one.changedAt)
    .map((one) => ({ ...one, messages: one.messages.map(storedMessage) }))
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
 * Returns a stored conversation in which unfinished answers are complete. The page that received
 * such an answer was closed, so no more text will arrive. Messages without a cost are marked, so
 * that the page does not wait for the cost.
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
  const { id, role, content, status, images, toolCalls } = (value ?? {}) as Partial<ChatMessage>
  return (
    typeof id === 'string' &&
    (role === 'user' || role === 'assistant') &&
    typeof content === 'string' &&
    STATUSES.includes(status ?? '') &&
    isListOf(images, (one) => typeof one === 'string') &&
    isListOf(toolCalls, isToolCall)
  )
}

const isListOf = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  value === undefined || (Array.isArray(value) && value.every(isItem))

function isToolCall(value: unknown): boolean {
  const { name, input } = (value ?? {}) as Partial<ToolCall>
  return typeof name === 'string' && typeof input === 'string'
}

import { useEffect, useRef, useState } from 'react'
import { useThrottledCallback } from '#console/ui/state/use-throttled-callback.ts'
import {
  type AnswerCost,
  type ChatMessage,
  type ChatSettings,
  type Conversation,
  DEFAULT_SETTINGS,
  newConversation,
  withCost,
  withMessages,
} from './conversation.ts'
import {
  loadConversations,
  type StoredConversations,
  storeConversations,
} from './conversation-store.ts'

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
 * Stores the conversations in the browser after changes (at most once per interval) and when the
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

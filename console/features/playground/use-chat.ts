import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { selfKey } from '#console/api/own-user-group-and-model-queries.ts'
import { chat } from '#console/api/playground-chat.ts'
import { type ChatDelta, type ToolCall, withToolCalls } from '#console/api/read-chat-delta.ts'
import { listLogs } from '#console/api/usage-log-queries.ts'
import { announce } from '#console/ui/messages/screen-reader-announcer.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import {
  type AnswerCost,
  type ChatMessage,
  type ChatSettings,
  emptyAnswer,
  requestMessages,
  userMessage,
} from './conversation.ts'
import type { Conversations } from './use-conversations.ts'

/** The delays (ms) before the attempts to find the cost of a call in the usage log. */
const SEARCH_DELAYS_MS = [100, 300, 600, 1_000, 2_000, 4_000] as const
const GIVE_UP_MS = 15_000

/**
 * Reads the cost of a call from the usage log. Returns null if `call` is empty, or if the log does
 * not contain the call even at the last attempt.
 */
async function costOf(call: string): Promise<AnswerCost | null> {
  if (call === '') return null
  const signal = AbortSignal.timeout(GIVE_UP_MS)
  for (const afterMs of SEARCH_DELAYS_MS) {
    await new Promise((resume) => setTimeout(resume, afterMs))
    const cost = await costIfLogged(call, signal)
    if (cost !== null) return cost
  }
  return null
}

async function costIfLogged(
  call: string,
  signal = AbortSignal.timeout(GIVE_UP_MS),
): Promise<AnswerCost | null> {
  const row = await loggedCall(call, signal).catch(() => null)
  if (row === null) return null
  return {
    logId: row.id,
    quota: String(row.quota),
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
  }
}

async function loggedCall(call: string, signal: AbortSignal): Promise<LogEntry | null> {
  const params = { request_id: call }
  const { items } = await listLogs({ scope: 'self', params, page: 0, pageSize: 1, signal })
  return items[0] ?? null
}

export type Chat = {
  readonly isBusy: boolean
  readonly canAsk: boolean
  readonly send: (text: string) => void
  readonly stop: () => void
  /**
   * Requests an answer once more. `message` is the answer to replace, or the user's message to
   * answer. All later messages are removed.
   */
  readonly retry: (message: ChatMessage) => void
  /**
   * Replaces the text of a message. If the user wrote the message, sends the new text and removes
   * all later messages.
   */
  readonly edit: (message: ChatMessage, content: string) => void
  readonly remove: (message: ChatMessage) => void
}

export function useChat(conversations: Conversations, canAsk: boolean): Chat {
  const answers = useAnswers(conversations)
  const { open, setMessages } = conversations
  const requestAnswer = (priorMessages: readonly ChatMessage[]): void => {
    if (canAsk) void answers.begin({ id: open.id, settings: open.settings }, priorMessages)
  }
  const upTo = (message: ChatMessage) =>
    open.messages.slice(
      0,
      open.messages.findIndex(({ id }) => id === message.id),
    )
  return {
    isBusy: answers.isBusy,
    canAsk,
    stop: answers.stop,
    send: (text) => requestAnswer([...open.messages, userMessage(text)]),
    retry: (message) =>
      requestAnswer(message.role === 'user' ? [...upTo(message), message] : upTo(message)),
    edit: (message, content) => {
      if (message.role === 'user') return requestAnswer([...upTo(message), { ...message, content }])
      setMessages(open.id, (messages) => withPatch(messages, message.id, { content }))
    },
    remove: ({ id }) => setMessages(open.id, (messages) => messages.filter((one) => one.id !== id)),
  }
}

/**
 * Returns the interval (ms) at which a growing answer of `length` characters is rendered. The
 * interval increases with the length, because a longer answer takes longer to parse. It is at most
 * a second, because the data of pictures is not parsed.
 */
const drawIntervalMs = (length: number): number => Math.min(1_000, Math.max(40, length / 200))

type ConversationRef = { readonly id: string; readonly settings: ChatSettings }

function useAnswers(conversations: Conversations) {
  const { setMessages, setCost } = conversations
  const { t } = useTranslation()
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  useLateCosts(conversations)

  const begin = async (
    { id, settings }: ConversationRef,
    priorMessages: readonly ChatMessage[],
  ): Promise<void> => {
    if (running.current !== null) return
    const control = new AbortController()
    running.current = control
    setBusy(true)
    const answer = emptyAnswer(settings.model)
    const patch = (change: Partial<ChatMessage>) =>
      setMessages(id, (messages) => withPatch(messages, answer.id, change))
    setMessages(id, () => [...priorMessages, answer])
    const progress = createAnswerProgress(patch)
    try {
      await chat(chatRequestOf(settings, priorMessages), progress, control.signal)
      progress.end({ status: 'complete' })
      announce(t('playground.answered'))
    } catch (error) {
      progress.end(finalState(error, control.signal.aborted))
    } finally {
      running.current = null
      setBusy(false)
    }
    const cost = await costOf(progress.call())
    if (cost === null) patch({ isCostLate: true })
    else setCost(id, answer.id, cost)
    void client.invalidateQueries({ queryKey: selfKey })
  }
  return { isBusy, begin, stop: () => running.current?.abort() }
}

const chatRequestOf = (settings: ChatSettings, messages: readonly ChatMessage[]) => ({
  messages: requestMessages({ settings, messages }),
  model: settings.model,
  group: settings.group,
  max_tokens: settings.maxTokens,
  temperature: settings.temperature / 10,
})

function createAnswerProgress(patch: (change: Partial<ChatMessage>) => void) {
  const startedAt = performance.now()
  const since = () => Math.round(performance.now() - startedAt)
  let [content, reasoning, call] = ['', '', '']
  let toolCalls: readonly ToolCall[] = []
  const images: string[] = []
  let firstMs: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const soFar = (): Partial<ChatMessage> => ({
    content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(images.length === 0 ? {} : { images: [...images] }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(firstMs === undefined ? {} : { firstMs }),
    ...(call === '' ? {} : { call }),
  })
  return {
    call: () => call,
    onCall: (id: string) => {
      call = id
      patch({ call })
    },
    onDelta: (delta: ChatDelta) => {
      content += delta.content
      reasoning += delta.reasoning
      images.push(...delta.images)
      toolCalls = withToolCalls(toolCalls, delta.toolCalls)
      firstMs ??= since()
      timer ??= setTimeout(() => {
        timer = undefined
        patch({ ...soFar(), status: 'incomplete' })
      }, drawIntervalMs(content.length))
    },
    end: (change: Partial<ChatMessage>) => {
      clearTimeout(timer)
      // The usage log lists a failed call under the request id of its error response.
      if (call === '') call = change.error?.requestId ?? ''
      patch({ ...soFar(), totalMs: since(), ...change })
    },
  }
}

function finalState(error: unknown, isStopped: boolean): Partial<ChatMessage> {
  if (isStopped) return { status: 'complete', isStopped: true }
  const message = error instanceof Error ? error.message : String(error)
  const { code, requestId } =
    error instanceof ApiError ? error : { code: 'unexpected', requestId: '' }
  return { status: 'error', error: { message, code, requestId } }
}

const withPatch = (
  messages: readonly ChatMessage[],
  id: string,
  change: Partial<ChatMessage>,
): readonly ChatMessage[] => messages.map((one) => (one.id === id ? { ...one, ...change } : one))

/**
 * When a conversation is opened, the missing costs of at most this number of answers are looked up.
 * These are the newest answers without a cost.
 */
const LATE_COSTS_MAX = 10

function useLateCosts({ open, setCost }: Conversations): void {
  const requestedCalls = useRef(new Set<string>())
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per opened conversation
  useEffect(() => {
    const withoutCost = open.messages
      .filter(({ cost, isCostLate, status }) => !cost && isCostLate && status === 'complete')
      .slice(-LATE_COSTS_MAX)
    for (const { id, call } of withoutCost) {
      if (call === undefined || requestedCalls.current.has(call)) continue
      requestedCalls.current.add(call)
      void costIfLogged(call).then((cost) => cost !== null && setCost(open.id, id, cost))
    }
  }, [open.id])
}

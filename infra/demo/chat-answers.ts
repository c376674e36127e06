import { randomUUID } from 'node:crypto'

const WORDS =
  'a ledger that never forgets keeps every call it ever relayed in the order it happened'.split(' ')

export type ChatRequest = {
  readonly model: string
  readonly isStream: boolean
  readonly wantsUsage: boolean
  readonly mark: string
  readonly promptTokens: number
  readonly completionTokens: number
}

type Body = {
  model?: unknown
  stream?: unknown
  stream_options?: { include_usage?: unknown }
  messages?: readonly { content?: unknown }[]
  max_tokens?: unknown
  max_completion_tokens?: unknown
}

/**
 * Reads a chat request. The token counts depend only on the request, so that a test can calculate
 * the expected charge.
 */
export function readChatRequest(text: string, answerTokens: number): ChatRequest {
  const body = JSON.parse(text) as Body
  const contents = (body.messages ?? []).map((message) => textOf(message.content))
  const cap = Number(body.max_completion_tokens ?? body.max_tokens ?? answerTokens)
  return {
    model: String(body.model),
    isStream: body.stream === true,
    wantsUsage: body.stream_options?.include_usage === true,
    mark: copyOf((contents.at(-1) ?? '').slice(0, 200)),
    promptTokens: promptTokensOf(contents),
    completionTokens: Math.max(
      1,
      Math.min(answerTokens, Number.isFinite(cap) ? cap : answerTokens),
    ),
  }
}

/** Copies a string. In V8, a slice of a long text would keep the whole text in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content ?? '')

/** Counts one token per four characters, and three tokens per message. */
const promptTokensOf = (contents: readonly string[]): number =>
  contents.reduce((sum, content) => sum + Math.ceil(content.length / 4) + 3, 0)

/** Returns the word at this position. Each word but the first begins with a space. */
const word = (index: number): string => `${index === 0 ? '' : ' '}${WORDS[index % WORDS.length]}`

export const usageOf = (request: ChatRequest) => ({
  prompt_tokens: request.promptTokens,
  completion_tokens: request.completionTokens,
  total_tokens: request.promptTokens + request.completionTokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
})

/**
 * Returns a new id for the `x-request-id` header of a response. Providers name calls by this id in
 * their invoices.
 */
export const newRequestId = (): string => `req-${randomUUID()}`

const head = (request: ChatRequest, object: string) => ({
  id: 'chatcmpl-simulated',
  object,
  created: 1_780_000_000,
  model: request.model,
})

export function plainAnswer(request: ChatRequest, usage: unknown): string {
  const words = Array.from({ length: request.completionTokens }, (_, index) => word(index))
  const message = { role: 'assistant', content: words.join('') }
  return JSON.stringify({
    ...head(request, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...(usage === undefined ? {} : { usage }),
  })
}

/** Returns a chunk of the stream. The chunk after the last word has the finish reason. */
export function streamChunk(request: ChatRequest, index: number): string {
  const isLast = index >= request.completionTokens
  const delta = isLast
    ? {}
    : { ...(index === 0 ? { role: 'assistant' } : {}), content: word(index) }
  const choice = { index: 0, delta, finish_reason: isLast ? 'stop' : null }
  return sse({ ...head(request, 'chat.completion.chunk'), choices: [choice] })
}

export const usageChunk = (request: ChatRequest, usage: unknown): string =>
  sse({ ...head(request, 'chat.completion.chunk'), choices: [], usage })

export const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

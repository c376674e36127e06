import { createParser } from 'eventsource-parser'
import { translate } from '#console/i18n/i18n.ts'
import { ApiError } from './api-error.ts'
import { parseObject } from './parse-json-object.ts'
import { type ChatDelta, readChatDelta } from './read-chat-delta.ts'
import { requestStream } from './request.ts'

type ChatRequest = {
  messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[]
  model: string
  group: string
  /** The maximum number of output tokens, or 0 for no limit. */
  max_tokens: number
  temperature: number
}

type ChatListener = {
  /** Called with the request id of the call, under which the usage log lists the call. */
  onCall: (call: string) => void
  onDelta: (delta: ChatDelta) => void
}

/**
 * Sends a chat request and passes on the parts of the answer as they arrive. Throws an `ApiError`
 * if the server rejects the call, if the stream contains an error, or if the stream ends without
 * `[DONE]`.
 */
export async function chat(
  ask: ChatRequest,
  { onCall, onDelta }: ChatListener,
  signal: AbortSignal,
): Promise<void> {
  const { messages, model, group, max_tokens, temperature } = ask
  const body = { messages, stream: true, model, group, max_tokens, temperature }
  const path = '/pg/chat/completions'
  const response = await requestStream({ method: 'POST', path, body, signal })
  const call = response.headers.get('x-request-id') ?? ''
  onCall(call)
  let isDone = false
  let streamError: StreamError | null = null
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isDone || streamError !== null) return
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const chunk: Chunk | null = parseObject(data)
      if (chunk?.error !== undefined) streamError = chunk.error
      const delta = readChatDelta(chunk?.choices?.[0]?.delta)
      if (delta !== null) onDelta(delta)
    },
  })
  const text = new TextDecoder()
  for await (const bytes of bytesOf(response)) parser.feed(text.decode(bytes, { stream: true }))
  if (!isDone) throw incompleteAnswerError(streamError, call)
}

type StreamError = { message?: string; code?: string | null }
type Chunk = {
  error?: StreamError
  choices?: readonly { delta?: unknown }[]
}

/**
 * Reads the body of a response in chunks. `for await` over the body is not used, because some
 * browsers do not support it.
 */
async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) return
  try {
    for (let part = await read(reader); !part.done; part = await read(reader)) yield part.value
  } finally {
    reader.cancel().catch(() => {})
  }
}

/**
 * Reads the next chunk. If the connection breaks, throws the same error as for a request without a
 * response. The error of an abort is thrown unchanged.
 */
async function read(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(translate('request.network'), { code: 'Network', status: 0 })
  }
}

function incompleteAnswerError(streamError: StreamError | null, requestId: string): ApiError {
  const message = streamError?.message || translate('playground.cutShort')
  return new ApiError(message, { code: streamError?.code ?? 'Incomplete', status: 200, requestId })
}

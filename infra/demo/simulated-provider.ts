import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ChatRequest,
  newRequestId,
  plainAnswer,
  readChatRequest,
  sse,
  streamChunk,
  usageChunk,
  usageOf,
} from './chat-answers.ts'
import { Journal, type JournalEntry } from './received-requests.ts'
import { createTaskProvider, type TaskProvider } from './simulated-drawing-and-music-provider.ts'
import { answerPlainFault, type Fault, faultOfModel } from './simulated-faults.ts'

export type SimulatedProviderOptions = {
  /** The port to listen on. With 0, the default, the system chooses a free port. */
  readonly port?: number
  /** The number of words in an answer, unless `max_tokens` is lower. */
  readonly answerTokens?: number
  /** The pauses before the first byte and between the chunks of a stream, in milliseconds. */
  readonly firstByteMs?: number
  readonly gapMs?: number
  readonly taskMs?: number
  /** The clock of drawing and music tasks, which tests replace. */
  readonly taskNow?: () => number
}

export type SimulatedProvider = {
  readonly url: string
  readonly port: number
  readonly journal: Journal
  /** The faults of the next requests, in order. Each request, for any model, uses up one fault. */
  readonly script: Fault[]
  readonly tasks: TaskProvider['tasks']
  close(): Promise<void>
}

type Context = { options: SimulatedProviderOptions; journal: Journal; script: Fault[] }

/** Starts an OpenAI-compatible provider whose answers depend only on the request. */
export async function startSimulatedProvider(
  options: SimulatedProviderOptions = {},
): Promise<SimulatedProvider> {
  const context: Context = { options, journal: new Journal(), script: [] }
  const taskProvider = createTaskProvider(options.taskMs ?? 8_000, options.taskNow)
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => {})
    if (request.method === 'GET') {
      if (!taskProvider.answer(request, response, '')) answerGet(context, request, response)
      return
    }
    readBody(request, (text) => {
      if (taskProvider.answer(request, response, text)) return
      answerChat(context, request, response, text)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', 4096, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    journal: context.journal,
    script: context.script,
    tasks: taskProvider.tasks,
    close: () =>
      new Promise((resolve) => {
        taskProvider.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function readBody(request: IncomingMessage, done: (text: string) => void): void {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('error', () => {})
  request.on('end', () => done(Buffer.concat(parts).toString('utf8')))
}

function answerGet(context: Context, request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/journal') return sendJson(response, 200, context.journal.entries)
  if (request.url === '/journal/count') {
    return sendJson(response, 200, { count: context.journal.count })
  }
  const data = ['sim-small', 'sim-large'].map((id) => ({ id, object: 'model', owned_by: 'sim' }))
  sendJson(response, 200, { object: 'list', data })
}

function answerChat(
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
): void {
  const { options, journal, script } = context
  let chat: ReturnType<typeof readChatRequest>
  try {
    chat = readChatRequest(text, options.answerTokens ?? 20)
  } catch {
    return sendJson(response, 400, { error: { message: 'invalid JSON', type: 'invalid_request' } })
  }
  const authorization = request.headers.authorization ?? ''
  const requestId = String(request.headers['x-request-id'] ?? '')
  const entry = journal.open({
    model: chat.model,
    isStream: chat.isStream,
    mark: chat.mark,
    authorization,
    requestId,
  })
  entry.promptTokens = chat.promptTokens
  response.on('close', () => noteGone(entry, response))
  const fault = script.shift() ?? faultOfModel(chat.model)
  const answer = () => {
    if (fault !== null && answerPlainFault(response, entry, fault)) return
    if (chat.isStream && fault?.kind !== 'json-for-stream') {
      return streamAnswer({ response, entry, chat, fault, gapMs: options.gapMs ?? 0 })
    }
    const usage =
      fault?.kind === 'no-usage' ? undefined : fault?.kind === 'usage' ? fault.usage : usageOf(chat)
    entry.completionTokens = chat.completionTokens
    entry.status = 200
    sendText(response, 200, 'application/json', plainAnswer(chat, usage))
    entry.outcome = 'answered'
  }
  if (options.firstByteMs) setTimeout(answer, options.firstByteMs)
  else answer()
}

function noteGone(entry: JournalEntry, response: ServerResponse): void {
  if (entry.outcome === 'open' && !response.writableFinished) entry.outcome = 'caller-gone'
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, 'application/json', JSON.stringify(value))
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'x-request-id': newRequestId(),
  })
  response.end(text)
}

type Stream = {
  readonly response: ServerResponse
  readonly entry: JournalEntry
  readonly chat: ChatRequest
  readonly fault: Fault | null
  readonly gapMs: number
}

/** Sends one word per chunk at the pace at which the client reads, then usage and `[DONE]`. */
function streamAnswer(stream: Stream): void {
  const { response, entry, fault } = stream
  entry.status = 200
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-request-id': newRequestId(),
  })
  if (fault?.kind === 'garbage') response.write(': hello\r\n\r\ndata:{broken\n\nnonsense\n\n')
  if (fault?.kind === 'long-line') response.write(`data: ${'x'.repeat(fault.bytes)}`)
  sendFrom(stream, 0)
}

function sendFrom(stream: Stream, start: number): void {
  const { response, entry, chat, fault } = stream
  const gapMs = fault?.kind === 'slow' ? fault.msPerChunk : stream.gapMs
  const count = fault?.kind === 'large' ? fault.chunks : chat.completionTokens
  for (let index = start; index <= count; index += 1) {
    if (response.destroyed) return
    if (endsEarly(stream, index)) return
    const text = index === count ? streamChunk(chat, chat.completionTokens) : chunkAt(stream, index)
    const isFlowing = response.write(text)
    entry.chunksSent += 1
    if (index < count) entry.completionTokens += 1
    if (index === count) return finish(stream)
    if (gapMs > 0) {
      setTimeout(sendFrom, gapMs, stream, index + 1)
      return
    }
    if (!isFlowing) {
      response.once('drain', () => sendFrom(stream, index + 1))
      return
    }
  }
}

const chunkAt = ({ chat, fault }: Stream, index: number): string =>
  streamChunk(fault?.kind === 'large' ? { ...chat, completionTokens: fault.chunks } : chat, index)

function endsEarly({ response, entry, fault }: Stream, index: number): boolean {
  if (fault?.kind === 'stall' && index === 3) return true
  if (fault?.kind === 'error-in-stream' && index === (fault.afterChunks ?? 3)) {
    entry.outcome = 'failed'
    const { code } = fault
    response.end(sse({ error: { message: 'simulated failure', type: 'server_error', code } }))
    return true
  }
  if (fault?.kind !== 'cut' || index !== fault.afterChunks) return false
  entry.outcome = 'cut'
  // The connection is reset only after the write has finished, because a reset discards unsent
  // bytes.
  response.write('', () => {
    setImmediate(() => {
      if (fault.how === 'reset') response.socket?.resetAndDestroy()
      else response.socket?.end()
    })
  })
  return true
}

function finish({ response, entry, chat, fault }: Stream): void {
  if (chat.wantsUsage && fault?.kind !== 'no-usage') {
    const real = usageOf({ ...chat, completionTokens: entry.completionTokens })
    response.write(usageChunk(chat, fault?.kind === 'usage' ? fault.usage : real))
  }
  if (fault?.kind !== 'no-done') response.write('data: [DONE]\n\n')
  response.end(() => {
    entry.outcome = 'answered'
  })
}

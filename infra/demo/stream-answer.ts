import type { ServerResponse } from 'node:http'
import {
  type ChatRequest,
  newRequestId,
  sse,
  streamChunk,
  usageChunk,
  usageOf,
} from './chat-answers.ts'
import type { JournalEntry } from './received-requests.ts'
import type { Fault } from './simulated-faults.ts'

type Stream = {
  readonly response: ServerResponse
  readonly entry: JournalEntry
  readonly chat: ChatRequest
  readonly fault: Fault | null
  readonly gapMs: number
}

/** Sends one word per chunk at the pace at which the client reads, then usage and `[DONE]`. */
export function streamAnswer(stream: Stream): void {
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

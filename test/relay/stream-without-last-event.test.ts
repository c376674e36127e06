import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { DEFAULT_DEADLINES } from '#relay/pipeline/call-deadlines-and-timer.ts'
import { StreamForwarder } from '#relay/pipeline/stream-forwarder.ts'
import { UpstreamAttempt } from '#relay/pipeline/upstream-attempt.ts'
import { type PolledAnswer, PolledCall } from '#relay/providers/submit-and-poll-call.ts'

const chunk = (text: string, others: object = {}, usageMetadata: object = {}): string => {
  const candidates = [{ content: { parts: [{ text }] }, ...others }]
  return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'own' })}\r\n\r\n`
}
const TEXTS = chunk('{"usageMetadata":') + chunk('\r\n\r\ndata: "error"')
const LAST = chunk('end', { finishReason: 'MAX_TOKENS' }, { promptTokenCount: 5 })

const nothing = Buffer.alloc(0)
const pool = { dispatch: () => true } as unknown as Dispatcher
const controller = { abort: () => {}, pause: () => {}, resume: () => {} }
const connection = controller as unknown as Dispatcher.DispatchController

/** A stream of Gemini's API as its caller sees it, and the handler of its connection. */
function openStream(shownModel: string | null = null) {
  const sent: string[] = []
  const sink = { write: (bytes: Buffer) => sent.push(bytes.toString()) > 0 }
  const forwarder = new StreamForwarder(GEMINI, sink, true, shownModel, () => {})
  const attempt = new UpstreamAttempt(GEMINI, forwarder, DEFAULT_DEADLINES)
  let end: AttemptEnd | null = null
  const ended = attempt.start(pool, { path: '/', headers: [], body: nothing })
  void ended.then((reached) => {
    end = reached
  })
  attempt.onRequestStart(connection)
  attempt.onResponseStart(connection, 200, { 'content-type': 'text/event-stream' })
  return {
    forwarder,
    attempt,
    push: (bytes: string | Buffer) => attempt.onResponseData(connection, Buffer.from(bytes)),
    reset: () => attempt.onResponseError(connection, new Error('reset')),
    sent: () => sent.join(''),
    ended,
    hasEnded: async () => {
      await new Promise((resume) => setImmediate(resume))
      return end !== null
    },
  }
}

describe('a stream that ends with its connection', () => {
  it('split at any byte, is sent up to its last chunk, which is held back', async () => {
    const bytes = Buffer.from(TEXTS + LAST)
    for (let at = 1; at < bytes.length; at += 1) {
      const { attempt, forwarder, push, sent, ended } = openStream()
      push(bytes.subarray(0, at))
      push(bytes.subarray(at))
      expect(sent()).toBe(TEXTS)
      attempt.onResponseEnd()
      expect(await ended).toMatchObject({ kind: 'streamed', error: null })
      expect(forwarder.terminalBytes().toString()).toBe(LAST)
      expect(forwarder.rawUsage).toEqual({ promptTokenCount: 5 })
    }
  })

  it('is complete even if the connection breaks after its last chunk', async () => {
    const { push, reset, ended } = openStream()
    push(TEXTS + LAST)
    reset()
    expect(await ended).toMatchObject({ kind: 'streamed', error: null })
  })

  it('is cut if the connection ends before a finish reason', async () => {
    const { attempt, push, ended } = openStream()
    push(TEXTS)
    attempt.onResponseEnd()
    expect(await ended).toMatchObject({ kind: 'streamed', error: 'cut' })
  })

  it('does not wait long for a provider that keeps the connection open', async () => {
    const { attempt, push, ended, hasEnded } = openStream()
    push(TEXTS + LAST)
    attempt.onTick(performance.now() + 1_000)
    expect(await hasEnded()).toBe(false)
    attempt.onTick(performance.now() + 6_000)
    expect(await ended).toMatchObject({ kind: 'streamed', error: null })
  })

  it('goes on if text follows a finish reason, and holds back only the end', async () => {
    const { attempt, push, sent, ended } = openStream()
    push(LAST + chunk('more'))
    expect(sent()).toBe(LAST + chunk('more'))
    attempt.onResponseEnd()
    expect(await ended).toMatchObject({ error: 'cut' })
  })

  it('holds back a comment and a chunk with usage together with the last chunk', async () => {
    const usage = `data: {"usageMetadata":{"promptTokenCount":7}}\n\n`
    const { attempt, forwarder, push, sent, ended } = openStream('shown')
    push(`${LAST}: ping\n\n${usage}`)
    expect(sent()).toBe('')
    attempt.onResponseEnd()
    expect(await ended).toMatchObject({ kind: 'streamed', error: null })
    const held = `${LAST.replace('own', 'shown')}: ping\n\n${usage}`
    expect(forwarder.terminalBytes().toString()).toBe(held)
    expect(forwarder.rawUsage).toEqual({ promptTokenCount: 7 })
  })

  it('keeps few events at its end, however many a provider sends', () => {
    const { push, sent } = openStream()
    push(LAST)
    for (let count = 0; count < 100; count += 1) push(': ping\n\n')
    expect(sent().length).toBeGreaterThan(90 * 8)
  })

  it('has a picture of several MiB in one event', async () => {
    const data = 'A'.repeat(4 * 1024 * 1024)
    const picture = `data: ${JSON.stringify({
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }],
    })}\n\n`
    const { push, sent, forwarder } = openStream()
    for (let at = 0; at < picture.length; at += 65_536) push(picture.slice(at, at + 65_536))
    expect(sent()).toHaveLength(picture.length)
    expect(forwarder.delivered.read().tokens).toBeGreaterThan(1_000)
  })
})

describe('an exception while an answer is read', () => {
  const bug = () => {
    throw new Error('a bug')
  }

  it('in the decoder of an error, the attempt ends with the error as it is', async () => {
    const errors: unknown[] = []
    const attempt = new UpstreamAttempt(GEMINI, null, DEFAULT_DEADLINES, {
      decoder: { mediaType: 'text/event-stream', createStream: bug, errorBody: bug },
      onException: (error) => errors.push(error),
    })
    const ended = attempt.start(pool, { path: '/', headers: [], body: nothing })
    attempt.onRequestStart(connection)
    attempt.onResponseStart(connection, 500, { 'content-type': 'application/json' })
    attempt.onResponseData(connection, Buffer.from('{"error":1}'))
    attempt.onResponseEnd()
    const body = Buffer.from('{"error":1}')
    expect(await ended).toMatchObject({ kind: 'failed', error: 'status', status: 500, body })
    expect(errors).toHaveLength(1)
  })

  it.each(['onResponseStart', 'onResponseData', 'onResponseEnd'])(
    'in %s of a polled call, the handler is told that the call has failed',
    (name) => {
      const errors: Error[] = []
      const onResponseError = (_controller: unknown, error: Error) => errors.push(error)
      class FinishedCall extends PolledCall {
        end(answer: PolledAnswer): void {
          this.finish(this.controller(), answer)
        }
      }
      const handler = { onResponseError, [name]: bug } as unknown as Dispatcher.DispatchHandler
      new FinishedCall({} as never, {}, handler).end({ status: 500, text: '{}' })
      expect(errors.map(({ message }) => message)).toEqual(['a bug'])
    },
  )
})

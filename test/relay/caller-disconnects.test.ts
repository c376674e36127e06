import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Fault } from '#infra/demo/simulated-faults.ts'
import type { CountAnswer } from '#relay/token-counts/count-job.ts'
import { chat, KEY, type RelayRig, relayRig } from './support/relay-rig.ts'

let rig: RelayRig
beforeEach(async () => {
  rig = await relayRig({ deadlines: { readOnPlainMs: 400 } })
})
afterEach(() => rig.close())

/** A call whose caller can hang up at any moment. */
function openCall(
  stream: boolean,
  model = 'sim-small',
  { key = KEY, content = 'x', headers = {} } = {},
): { readonly chunks: () => number; readonly hangUp: () => void } {
  let text = ''
  const call = httpRequest(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json', ...headers },
  })
  call.on('error', () => {})
  call.on('response', (response) => {
    response.on('error', () => {})
    response.on('data', (bytes) => {
      text += bytes
    })
  })
  const messages = [{ role: 'user', content }]
  call.end(JSON.stringify({ model, stream, max_tokens: 20, messages }))
  return { chunks: () => text.split('\n\n').length - 1, hangUp: () => call.destroy() }
}

const theEnd = async () => {
  await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
  const end = (await rig.callEvents())[1]
  if (end === undefined) throw new Error('no end')
  return end
}

const providerSawItGo = () =>
  expect.poll(() => rig.provider.journal.entries[0]?.outcome).toBe('caller-gone')

describe('a stream whose caller disconnects', () => {
  it.each([1, 5, 19])(
    'a caller who leaves after %i of 20 chunks pays for what was delivered',
    async (count) => {
      // After the 19th there is but one left, and a busy machine looks late.
      rig.provider.script.push({ kind: 'slow', msPerChunk: count === 19 ? 100 : 20 })
      const call = openCall(true)
      await expect.poll(call.chunks, { interval: 5 }).toBeGreaterThanOrEqual(count)
      call.hangUp()
      const end = await theEnd()
      expect(end).toMatchObject({
        type: 'CallSettled',
        data: { end: 'client-gone', usageSource: 'partial' },
      })
      if (end.type !== 'CallSettled') throw new Error('not settled')
      expect(end.data.usage.output).toBeGreaterThanOrEqual(count)
      expect(end.data.usage.inputUncached).toBeGreaterThan(0)
      await providerSawItGo()
      expect(rig.relay.inFlight()).toBe(0)
    },
  )
})

describe('a caller who disconnects before the first byte', () => {
  it.each([
    ['a stream', true, 'after-headers'],
    ['a stream', true, 'before-headers'],
    ['a plain call', false, 'before-headers'],
    ['a plain call', false, 'after-headers'],
  ] as const)(
    'a caller of %s pays for the input that the provider has received (%s, %s)',
    async (...row) => {
      const [, stream, at] = row
      rig.provider.script.push({ kind: 'stall', at })
      const call = openCall(stream)
      await expect.poll(() => rig.provider.journal.count).toBe(1)
      call.hangUp()
      const end = await theEnd()
      expect(end).toMatchObject({
        type: 'CallSettled',
        data: { end: 'client-gone', usageSource: 'partial', usage: { output: 0 } },
      })
      if (end.type !== 'CallSettled') throw new Error('not settled')
      expect(end.data.usage.inputUncached).toBeGreaterThan(0)
      await providerSawItGo()
      expect(await rig.balance()).toBeLessThan(1_000_000_000n)
    },
  )
})

describe('a caller who disconnects while the input is counted', () => {
  const POOR = { user: 21, token: 22, key: 'P'.repeat(48), quota: 200_000n }
  /** The number of closed responses. */
  let closed: number
  /** The resolver of each count that has been requested. */
  let counts: ((answer: CountAnswer) => void)[]
  const count = () => new Promise<CountAnswer>((resolve) => counts.push(resolve))
  const waiting = () => ({ bytes: 0, length: 0 })
  beforeEach(async () => {
    await rig.close()
    closed = 0
    counts = []
    rig = await relayRig({ counter: { of: () => ({ count }), waiting, close: async () => {} } })
    await rig.addUser(POOR.user)
    await rig.addToken(POOR.token, POOR.user, POOR.key)
    await rig.grant(POOR.user, POOR.quota)
    const { handle } = rig.relay
    Object.assign(rig.relay, {
      handle: (request: IncomingMessage, response: ServerResponse) => {
        response.on('close', () => {
          closed += 1
        })
        handle(request, response)
      },
    })
  })

  const content = 'word '.repeat(12_000)
  const KEYED = { 'idempotency-key': 'order 17' }
  /** Sends the request of `openCall` with the same key. Returns the status. */
  async function repeat(max_tokens = 20): Promise<number> {
    const messages = [{ role: 'user', content }]
    const answer = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer sk-${POOR.key}`, 'content-type': 'application/json' },
        ...KEYED,
      },
      body: JSON.stringify({ model: 'sim-small', stream: false, max_tokens, messages }),
    })
    await answer.text()
    return answer.status
  }
  /** Answers `made` counts as soon as they have been requested. */
  async function answerCounts(made: number): Promise<void> {
    await expect.poll(() => counts.length).toBe(made)
    for (const answer of counts) answer({ input: 12_000, output: 0, inputMost: 24_000 })
  }
  const types = async () => (await rig.callEvents(POOR.user)).map(({ type }) => type)

  /** Resolves once the relay has noticed that the connection is closed. */
  async function leave(headers = {}): Promise<void> {
    const call = openCall(false, 'sim-small', { ...POOR, content, headers })
    await expect.poll(() => counts.length).toBe(1)
    call.hangUp()
    await expect.poll(() => closed).toBe(1)
  }

  it.each([
    ['to reduce the hold', 0],
    ['for the limit of a channel', 50_000],
  ])('a call counted %s is not admitted or sent to the provider', async (_what, maxInputTokens) => {
    const deletion = { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } } as const
    await rig.append('channels', deletion)
    await rig.addChannel(2, { maxInputTokens })
    await leave()
    counts[0]?.({ input: 12_000, output: 0, inputMost: 24_000 })
    await expect.poll(rig.relay.inFlight).toBe(0)
    expect(counts.length).toBe(1)
    expect(await rig.callEvents(POOR.user)).toEqual([])
    expect(await rig.balance(POOR.user)).toBe(POOR.quota)
    expect(rig.provider.journal.count).toBe(0)
  })

  it.each([
    ['the same request', 20],
    ['another request', 10],
  ])(
    'the abandoned call leaves its key to %s, which is served and charged once',
    async (_what, maxTokens) => {
      await leave(KEYED)
      await answerCounts(1)
      await expect.poll(rig.relay.inFlight).toBe(0)
      const statuses = Promise.all(Array.from({ length: 50 }, () => repeat(maxTokens)))
      await answerCounts(51)
      expect((await statuses).filter((status) => status === 200)).toHaveLength(1)
      expect((await statuses).filter((status) => status === 409)).toHaveLength(49)
      expect(rig.provider.journal.count).toBe(1)
      expect(await types()).toEqual(['CallAdmitted', 'CallSettled'])
    },
  )

  it('leaving changes nothing if an earlier call with the same key was charged', async () => {
    const first = repeat()
    await answerCounts(1)
    expect(await first).toBe(200)
    const taken = { userId: POOR.user, deductionId: 'all', amount: await rig.balance(POOR.user) }
    const command = { type: 'DeductQuota', ...taken, reason: 'admin' } as const
    const context = { actor: 'user:1', cause: null, at: Date.now() }
    await rig.core.actors.handle(accountDecider, accountStream(POOR.user), command, context)
    expect(await repeat()).toBe(409)
    expect(await types()).toEqual(['CallAdmitted', 'CallSettled'])
  })
})

describe('a caller who disconnects from a plain call whose provider is slow', () => {
  beforeEach(async () => {
    await rig.close()
    const deadlines = { firstEventMs: 300, plainAnswerStartMs: 300, readOnPlainMs: 10_000 }
    rig = await relayRig({ deadlines }, {}, undefined, { firstByteMs: 1_200 })
  })
  const leave = async (): Promise<void> => {
    const call = openCall(false)
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    call.hangUp()
  }

  it('the caller pays by the usage of an answer that comes after disconnecting', async () => {
    await leave()
    expect(await theEnd()).toMatchObject({
      type: 'CallSettled',
      data: { end: 'client-gone', usageSource: 'upstream', usage: { output: 20 } },
    })
  })

  it.each<[string, Fault]>([
    ['an error', { kind: 'status', status: 500 }],
    ['a page of HTML', { kind: 'html' }],
  ])('the caller pays nothing if the provider answers with %s', async (_name, fault) => {
    rig.provider.script.push(fault)
    await leave()
    expect((await theEnd()).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(1_000_000_000n)
  })

  it('the caller pays for the input if the provider’s connection breaks', async () => {
    rig.provider.script.push({ kind: 'cut', afterChunks: 0, how: 'reset' })
    await leave()
    const end = await theEnd()
    expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone' } })
    expect('usage' in end.data && end.data.usage?.inputUncached).toBeGreaterThan(0)
  })
})

describe('a stream request that the provider answers with plain JSON', () => {
  let provider: ReturnType<typeof createServer>
  const begun: ServerResponse[] = []
  beforeEach(async () => {
    await rig.close()
    rig = await relayRig({ deadlines: { readOnPlainMs: 5_000 } })
    begun.length = 0
    provider = createServer((request, response) => {
      response.on('error', () => {})
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{')
        begun.push(response)
      })
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    await rig.addChannel(2, { baseUrl, models: ['plain'] })
    await rig.setOption('ModelRatio', { plain: 1 })
    await rig.setOption('CompletionRatio', { plain: 3 })
  })
  afterEach(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const USAGE = { prompt_tokens: 12, completion_tokens: 20 }
  const CHARGE = 12 + 20 * 3
  const finish = (response: ServerResponse | undefined): void => {
    const choices = [{ index: 0, message: { content: 'short' }, finish_reason: 'stop' }]
    response?.end(JSON.stringify({ choices, usage: USAGE }).slice(1))
  }

  it('the relay reads the answer to its end and charges its usage', async () => {
    const call = openCall(true, 'plain')
    await expect.poll(() => begun.length).toBe(1)
    await settled()
    call.hangUp()
    await settled()
    expect(rig.relay.inFlight()).toBe(1)
    finish(begun[0])
    expect(await theEnd()).toMatchObject({
      type: 'CallSettled',
      data: { end: 'client-gone', usageSource: 'upstream', charge: CHARGE },
    })
  })

  it('the relay charges the input if the answer breaks off', async () => {
    const call = openCall(true, 'plain')
    await expect.poll(() => begun.length).toBe(1)
    await settled()
    call.hangUp()
    await settled()
    begun[0]?.destroy()
    const end = await theEnd()
    expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone' } })
    expect('usage' in end.data && end.data.usage?.inputUncached).toBeGreaterThan(0)
  })

  it('a caller who already received comments gets the answer as an event', async () => {
    await rig.setOption('general_setting.ping_interval_enabled', 'true')
    await rig.setOption('general_setting.ping_interval_seconds', '1')
    const answering = chat(rig, { model: 'plain', stream: true })
    await expect.poll(() => begun.length).toBe(1)
    setTimeout(() => finish(begun[0]), 2_500)
    const { text } = await answering
    expect(text).toContain(': ping')
    const events = text.split('\n\n').filter((event) => event.startsWith('data: '))
    expect(events).toHaveLength(2)
    expect(JSON.parse((events[0] ?? '').slice('data: '.length))).toEqual({
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'short' }, finish_reason: 'stop' }],
      usage: USAGE,
    })
    expect(events[1]).toBe('data: [DONE]')
    expect(await theEnd()).toMatchObject({ type: 'CallSettled', data: { charge: CHARGE } })
  })
})

describe('a caller who disconnects from a provider that never stops sending', () => {
  const MIB = 2 ** 20
  const PIECE = 64 * 1024
  /** The test ends the provider here, far above every bound. */
  const SENT_MAX = 64 * MIB
  const FINISHED = 'data: {"choices":[{"delta":{"content":"Yes"},"finish_reason":"stop"}]}\n\n'
  /** More than the gateway counts itself, so that the usage decides. */
  const USAGE = { prompt_tokens: 700, completion_tokens: 20 }
  const usageChunk = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`
  let sent = 0
  let begin: { readonly status: number; readonly type: string; readonly text: string }
  let comments = 0
  let flood: string
  let hasLeft: () => void
  let leaving: Promise<void>
  const turn = () => new Promise((resume) => setImmediate(resume))
  /** Sends the flood at the pace of its reader, so that few bytes wait in the sockets. */
  const sendFlood = async (response: ServerResponse): Promise<void> => {
    response.writeHead(begin.status, { 'content-type': begin.type })
    response.write(begin.text)
    for (let written = 0; written < comments; written += 1) {
      await settled()
      response.write(': ping\n\n')
    }
    await leaving
    const piece = flood.repeat(Math.ceil(PIECE / flood.length))
    while (!response.destroyed && sent < SENT_MAX) {
      sent += piece.length
      response.write(piece)
      while (response.writableNeedDrain && !response.destroyed) await turn()
      for (let turns = 0; turns < 4; turns += 1) await turn()
    }
    response.destroy()
  }
  const provider = createServer((request, response) => {
    response.on('error', () => {})
    request.resume().on('end', () => void sendFlood(response))
  })
  beforeEach(async () => {
    await rig.close()
    rig = await relayRig()
    sent = 0
    comments = 0
    leaving = new Promise((resolve) => {
      hasLeft = resolve
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    await rig.addChannel(2, { baseUrl, models: ['endless'] })
    await rig.setOption('ModelRatio', { endless: 1 })
    await rig.setOption('CompletionRatio', { endless: 3 })
  })
  afterEach(() => {
    provider.closeAllConnections()
    provider.close()
  })

  /** Leaves the call, and returns its end and the highest growth of buffers in MiB. */
  async function leave(isStream: boolean) {
    const call = openCall(isStream, 'endless')
    if (isStream) await expect.poll(call.chunks).toBeGreaterThan(comments)
    await settled()
    const before = process.memoryUsage().arrayBuffers
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }, 5)
    call.hangUp()
    await settled()
    expect(rig.relay.inFlight()).toBe(1)
    hasLeft()
    await expect.poll(() => rig.relay.inFlight()).toBe(0)
    clearInterval(timer)
    const events = await rig.callEvents()
    expect(events).toHaveLength(2)
    return { end: events[1], grownMiB: (most - before) / MIB }
  }

  const BY_USAGE = { usageSource: 'upstream', charge: 700 + 20 * 3 }
  it.each([
    ['one line without an end', '', 'x', { usageSource: 'partial' }],
    ['small comments', '', ': ping\n\n', { usageSource: 'partial' }],
    ['small comments after its usage', usageChunk, ': ping\n\n', BY_USAGE],
    ['one line without an end after its usage', usageChunk, 'x', BY_USAGE],
    ['usage chunks', '', usageChunk, BY_USAGE],
  ])(
    'the relay reads at most about 1 MiB of a finished stream that continues with %s',
    async (_what, first, more, bill) => {
      begin = { status: 200, type: 'text/event-stream', text: FINISHED + first }
      flood = more
      const { end, grownMiB } = await leave(true)
      expect(sent / MIB).toBeGreaterThan(0.9)
      expect(sent / MIB).toBeLessThan(2)
      expect(grownMiB).toBeLessThan(16)
      expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone', ...bill } })
      expect(end?.type === 'CallSettled' && end.data.charge).toBeGreaterThan(0)
    },
  )

  it('the relay reads on if comments followed the finish reason', async () => {
    begin = { status: 200, type: 'text/event-stream', text: FINISHED }
    comments = 3
    flood = usageChunk
    const { end } = await leave(true)
    expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone', ...BY_USAGE } })
  })

  it('the relay reads at most 256 MiB of a plain answer, and charges once', async () => {
    begin = { status: 200, type: 'application/json', text: '{"choices":[{"message":{"content":"' }
    flood = 'word '
    const { end, grownMiB } = await leave(false)
    expect(sent / MIB).toBeLessThan(258)
    expect(grownMiB).toBeLessThan(80)
    expect(end).toMatchObject({ type: 'CallSettled', data: { end: 'client-gone' } })
    expect(end?.type === 'CallSettled' && end.data.charge).toBeGreaterThan(0)
  })

  it('the relay reads 64 KiB of an error, and charges nothing', async () => {
    begin = { status: 500, type: 'application/json', text: '{"error":{"message":"' }
    flood = 'no '
    const { end } = await leave(false)
    expect(sent / MIB).toBeLessThan(1)
    expect(end).toMatchObject({ type: 'CallReleased' })
  })
})

/** Gives what was sent over a local connection the time to arrive. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 200))

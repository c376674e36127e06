import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { MINIMAX_CHAT_ERRORS } from '#relay/providers/profiles/minimax-errors.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, onlyEnd, relayRig } from '../support/relay-rig.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'

const MINIMAX = 35
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

/** An error of MiniMax's chats, as its API sends it with the HTTP status 200. */
const errorOf = (status_code: number, status_msg: string) => ({
  ...{ id: '0556e3b1', choices: null, created: 1_764_500_000, model: 'sim-small' },
  ...{ object: '', usage: { total_tokens: 0, total_characters: 0 } },
  base_resp: { status_code, status_msg },
})

type Way = 'plain' | 'plain, to a stream' | 'an event' | 'an event without a blank line'
const WAYS: readonly Way[] = [
  ...(['plain', 'plain, to a stream', 'an event', 'an event without a blank line'] as const),
]

const script = (body: object, way: Way): void => {
  if (way.startsWith('plain')) return void provider.answers.set('*', { body })
  const text = `data: ${JSON.stringify(body)}${way === 'an event' ? '\n\n' : ''}`
  const pieces = [...text].map((letter) => Buffer.from(letter))
  provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces })
}

const ask = (way: Way) => chat(rig, way === 'plain' ? {} : { stream: true })

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: MINIMAX, baseUrl: provider.url })
})

describe.each(WAYS)('an error of MiniMax that is %s', (way) => {
  it.each([
    [1002, 'rate limit', 429, 'rate_limit_exceeded'],
    [1039, 'token limit', 429, 'rate_limit_exceeded'],
    [2013, 'invalid params, messages is empty', 400, 'invalid_request_error'],
    [1026, 'input new_sensitive', 400, 'invalid_request_error'],
    [2061, 'your plan not support model', 404, 'model_not_found'],
    [1033, 'system error', 502, 'server_error'],
    [9999, 'something new', 502, 'server_error'],
  ])('%i has its status and its words, and costs nothing', async (code, words, status, type) => {
    script(errorOf(code, words), way)
    const before = await rig.balance()
    const answer = await ask(way)
    expect(answer.status).toBe(status)
    const error = JSON.parse(answer.text).error
    expect(error).toMatchObject({ type, code: type })
    expect(error.message).toContain(words.split(',')[0])
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
  })

  it.each([
    [1004, 'login fail', 'invalid_api_key'],
    [1008, 'insufficient balance', 'insufficient_quota'],
  ])('%i is about the account: the channel is disabled', async (code, words, reason) => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('channel_health.disable_failures', '1')
    // The last channel of a model stays enabled, so there is another one.
    await rig.addChannel(3, { baseUrl: rig.provider.url, priority: -9 })
    script(errorOf(code, words), way)
    await expect
      .poll(async () => {
        await ask(way)
        const events = await rig.core.store.readStream(CHANNELS_STREAM)
        return events.filter(({ type }) => type === 'ChannelAutoDisabled').map(({ data }) => data)
      })
      .toMatchObject([{ channelId: 2, reason }])
  })
})

describe('an answer of MiniMax without an error', () => {
  const chunk = (delta: object, rest: object = {}) => ({
    ...{ id: 'c1', choices: [{ index: 0, delta, finish_reason: null }], ...rest },
  })
  const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
  const base_resp = { status_code: 0, status_msg: '' }

  // The code of sensitive output comes with the output, which the provider charges for.
  it.each([0, 1027])('is passed on and charged if it has choices: %i', async (status_code) => {
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const base = { base_resp: { status_code, status_msg: 'x' } }
    provider.answers.set('*', { body: { id: 'c1', choices, usage, ...base } })
    const { status, text } = await chat(rig)
    expect([status, JSON.parse(text).choices]).toEqual([200, choices])
    expect((await onlyEnd(rig)).type).toBe('CallSettled')
  })

  it('without the members of an answer is in the wrong format', async () => {
    provider.answers.set('*', { body: { base_resp } })
    const { status, text } = await chat(rig)
    expect([status, JSON.parse(text).error.code]).toEqual([502, 'upstream_format'])
  })

  it('is a stream whose bytes do not change, split at any byte', () => {
    const events = [sse(chunk({ content: 'He' })), sse(chunk({ content: 'llo' }, { base_resp }))]
    const all = Buffer.from(`${events.join(': ping\n\n')}data: [DONE]`)
    for (let at = 0; at <= all.length; at += 1) {
      const stream = MINIMAX_CHAT_ERRORS.createStream()
      const parts = [
        stream.push(all.subarray(0, at)),
        stream.push(all.subarray(at)),
        stream.end?.(),
      ]
      expect(Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0)))).toEqual(all)
      expect(stream.errorStatus).toBeNull()
    }
  })

  it('is charged by what was delivered if an error follows', async () => {
    const pieces = [sse(chunk({ content: 'Hello' })), sse(errorOf(1033, 'system error'))]
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('*', { headers, pieces: pieces.map((piece) => Buffer.from(piece)) })
    const { status, text } = await chat(rig, { stream: true })
    expect(status).toBe(200)
    expect(text).toContain('Hello')
    expect(text).toContain('system error')
    expect(text).not.toContain('base_resp')
    const end = await onlyEnd(rig)
    expect(end).toMatchObject({ type: 'CallSettled', data: { usageSource: 'partial' } })
  })

  it('is charged by usage that comes with the error', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
    const last = { ...errorOf(1027, 'output new_sensitive'), usage }
    const pieces = [sse(chunk({ content: 'Hello' })), sse(last)]
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('*', { headers, pieces: pieces.map((piece) => Buffer.from(piece)) })
    await chat(rig, { stream: true })
    expect(await onlyEnd(rig)).toMatchObject({
      type: 'CallSettled',
      data: { usage: { inputUncached: 20, output: 9 } },
    })
  })

  it('ends with a chunk, although MiniMax repeats the complete answer', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ finish_reason: 'stop', index: 0, message }]
    const last = { id: 'c1', object: 'chat.completion', choices, usage, base_resp }
    const pieces = [sse(chunk({ content: 'Hello' })), sse(last)]
    const headers = { 'content-type': 'text/event-stream' }
    provider.answers.set('*', { headers, pieces: pieces.map((piece) => Buffer.from(piece)) })
    const { text } = await chat(rig, { stream: true })
    expect(text.split('Hello')).toHaveLength(2)
    expect(text).toContain('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]')
    expect(text).not.toContain('base_resp')
    expect(await onlyEnd(rig)).toMatchObject({ data: { usage: { inputUncached: 20, output: 9 } } })
  })

  it.each([
    ['as a whole', [], '"delta":{"role":"assistant","content":"Hello"}'],
    ['in pieces', [sse(chunk({ content: 'Hello' }))], '"delta":{}'],
  ])('is complete without [DONE], sent %s', async (_name, before, delta) => {
    const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ finish_reason: 'stop', index: 0, message }]
    const last = { id: 'c1', object: 'chat.completion', choices, usage, base_resp }
    const pieces = [...before, sse(last)].map((piece) => Buffer.from(piece))
    provider.answers.set('*', { headers: { 'content-type': 'text/event-stream' }, pieces })
    const { text } = await chat(rig, { stream: true })
    expect(text.split('Hello')).toHaveLength(2)
    expect(text).toContain(delta)
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(await onlyEnd(rig)).toMatchObject({
      data: { end: 'done', usage: { inputUncached: 20, output: 9 } },
    })
  })
})

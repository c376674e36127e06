import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { estimateInputTokens } from '#relay/token-counts/estimate-input-tokens.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, USER } from './support/relay-rig.ts'

const rig = startedForEach(() => relayRig({ deadlines: { progressMs: 100 } }))

const url = `data:image/png;base64,${'A'.repeat(300_000)}`
const picture = { type: 'image_url', image_url: { url } }
const WITH_PICTURE = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it' }, picture] }],
}

/** A stream that stalls, and whose caller disconnects once its progress is recorded. */
async function leftHalfway(body: object) {
  rig.provider.script.push({ kind: 'stall', at: 'mid-stream' })
  const leaving = new AbortController()
  const answer = await fetch(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', stream: true, max_tokens: 100, ...body }),
    signal: leaving.signal,
  })
  expect(answer.status).toBe(200)
  const usages = async (type: 'CallProgressed' | 'CallSettled') =>
    (await rig.callEvents()).flatMap((event) => (event.type === type ? [event.data.usage] : []))
  await expect.poll(() => usages('CallProgressed')).not.toEqual([])
  leaving.abort()
  await expect.poll(() => usages('CallSettled')).toHaveLength(1)
  const [settled] = await usages('CallSettled')
  return { told: (await usages('CallProgressed')).at(-1), settled }
}

it.each([
  ['a few words', { messages: [{ role: 'user', content: 'hello' }] }, 5, 12],
  ['a picture of 300 KB', WITH_PICTURE, 765, 800],
])(
  'the progress of a call with %s records the same input as the bill of a call cut short',
  async (_name, body, least, most) => {
    const { told, settled } = await leftHalfway(body)
    expect(told?.inputUncached).toBe(settled?.inputUncached)
    expect(told?.inputUncached).toBeGreaterThan(least)
    expect(told?.inputUncached).toBeLessThan(most)
  },
)

it('roughInput counts a picture as one picture, however many bytes it has', () => {
  const text = { messages: [{ role: 'user', content: 'x'.repeat(4_000) }] }
  const bytes = (body: object) => Buffer.from(JSON.stringify(body))
  expect(estimateInputTokens(bytes(text))).toBe(Math.ceil(bytes(text).length / 4))
  const rough = estimateInputTokens(bytes(WITH_PICTURE))
  expect(rough).toBeGreaterThan(765)
  expect(rough).toBeLessThan(850)
  expect(estimateInputTokens(Buffer.from('{"a":"data:x;base64,AAAA'))).toBe(6)
})

describe('a call whose relay dies after the provider has reported usage', () => {
  /** Sends one word and the usage so far, and then nothing until the connection is closed. */
  const provider = startedForEach(() =>
    serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const choices = [{ index: 0, delta: { content: 'Yes' } }]
      response.write(`data: ${JSON.stringify({ choices, usage: reported })}\n\n`)
    }),
  )
  let reported: object = {}

  /** Interrupts the call once its progress is recorded. Returns the end of the call. */
  async function interruptAfterReport(usage: object, body: object, override: object = {}) {
    reported = usage
    const paramOverride = JSON.stringify(override)
    await rig.addChannel(2, { baseUrl: provider.url, models: ['reasoner'], paramOverride })
    await rig.setOption('ModelRatio', { reasoner: 1 })
    await rig.setOption('CompletionRatio', { reasoner: 3 })
    await rig.setOption('MaxOutputTokens', { reasoner: 60_000 })
    const leaving = new AbortController()
    await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'reasoner', stream: true, ...body }),
      signal: leaving.signal,
    })
    const progress = async () =>
      (await rig.callEvents()).find(({ type }) => type === 'CallProgressed')
    await expect.poll(progress).toBeDefined()
    const [admitted] = await rig.callEvents()
    const call = admitted !== undefined && 'call' in admitted.data ? admitted.data.call : ''
    const at = Date.now() + 3_600_000
    const context = { actor: 'sweeper', cause: call, at }
    const command = { type: 'InterruptCall', call, at } as const
    await rig.core.actors.handle(accountDecider, accountStream(USER), command, context)
    leaving.abort()
    const end = (await rig.callEvents()).at(-1)
    if (end?.type !== 'CallInterrupted') throw new Error('not interrupted')
    return end.data
  }
  const messages = [{ role: 'user', content: 'hello' }]
  const hidden = {
    prompt_tokens: 20,
    completion_tokens: 50_000,
    completion_tokens_details: { reasoning_tokens: 49_990 },
  }

  it('the call is charged for the reasoning that only the report contains', async () => {
    const end = await interruptAfterReport(hidden, { messages })
    const usage = { ...NO_USAGE, inputUncached: 20, output: 50_000, reasoning: 49_990 }
    expect(end).toMatchObject({ usage, charge: 20 + 50_000 * 3 })
  })

  it.each([
    [1, 4],
    [4, 1],
  ])('a price per call is charged for the %d choices sent, not for %d', async (n, asked) => {
    await rig.setOption('ModelPrice', { reasoner: 0.01 })
    const end = await interruptAfterReport(hidden, { messages, n: asked }, { n })
    expect(end).toMatchObject({ charge: n * 5_000, hold: 20_000 })
  })

  it('the call is charged for no more than its limits, which its hold covers', async () => {
    const end = await interruptAfterReport(hidden, { messages, max_tokens: 300 })
    expect(end.usage).toMatchObject({ output: 300, reasoning: 300 })
    expect(end.charge).toBeLessThanOrEqual(end.hold)
  })

  it.each([
    ['zeros', { prompt_tokens: 0, completion_tokens: 0 }],
    ['counts below zero', { prompt_tokens: -5, completion_tokens: -5 }],
    ['no counts', {}],
  ])('the call is charged by the relay’s count if the report has %s', async (_name, usage) => {
    const end = await interruptAfterReport(usage, { messages })
    expect(end.usage.inputUncached).toBeGreaterThan(5)
    expect(end.usage.output).toBeGreaterThan(0)
  })
})

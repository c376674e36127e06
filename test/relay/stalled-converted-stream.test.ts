import { describe, expect, it, type TestContext } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { FORMATS, MODEL, sendQuestion, textIn } from './clients/caller-formats.ts'
import { changingProvider } from './clients/changing-provider.ts'
import { SENTENCE } from './clients/provider-families.ts'
import { chat, onlyEnd, relayRig } from './support/relay-rig.ts'

/** A busy machine must not take so long between two events. */
const FIRST_EVENT_MS = 4_000
const IDLE_MS = 4_000
const deadlines = { firstEventMs: FIRST_EVENT_MS, idleMs: IDLE_MS }

const OPENAI_COMPATIBLE = 8
const ANTHROPIC = 14
const COZE = 49
/** The id of a bot, which only Coze's channels need. */
const BOT = '7379462189365198898'

/**
 * Starts a provider and a relay with two channels of the type for one test. The tests run at once,
 * because they mostly wait.
 */
async function startSite({ onTestFinished }: TestContext, type: number) {
  const provider = await changingProvider()
  onTestFinished(() => provider.close())
  const rig = await relayRig({ deadlines })
  onTestFinished(() => rig.close())
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('RetryTimes', '1')
  const channel = { type, baseUrl: provider.url, models: [MODEL], other: BOT }
  await rig.addChannel(2, { ...channel, priority: 1 })
  await rig.addChannel(3, channel)
  return { provider, rig }
}

describe.concurrent('a converted stream that stalls after its first event', () => {
  // The first provider works on the answer and charges for it. Every further provider would, too.
  it('is not sent to another channel, and its input is charged', async (test) => {
    const { provider, rig } = await startSite(test, ANTHROPIC)
    provider.respond = (response, { type, bytes }) => {
      const begun = bytes.indexOf('\n\n') + 2
      response.writeHead(200, { 'content-type': type }).write(bytes.subarray(0, begun))
    }
    expect((await chat(rig, { model: MODEL, stream: true })).status).toBe(504)
    expect(provider.requests).toHaveLength(1)
    const end = await onlyEnd(rig)
    expect(end.type).toBe('CallSettled')
    expect(end.data).toMatchObject({ channelId: 2, end: 'timeout' })
    expect('charge' in end.data && end.data.charge).toBeGreaterThan(0)
  })

  it('is not sent to another bot, although bots do not tell when a part begins', async (test) => {
    const { provider, rig } = await startSite(test, COZE)
    const chatOfBot = { id: '1', conversation_id: '2', bot_id: BOT, status: 'created' }
    const created = `event:conversation.chat.created\ndata:${JSON.stringify(chatOfBot)}\n\n`
    provider.respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(created)
    }
    await chat(rig, { model: MODEL, stream: true })
    expect(provider.requests).toHaveLength(1)
    const end = await onlyEnd(rig)
    expect(end.type).toBe('CallSettled')
    expect('charge' in end.data && end.data.charge).toBeGreaterThan(0)
  })
})

describe.concurrent('a converted stream that has only comments', () => {
  // A provider keeps the connection of a hung model open with comments, so they are no first event.
  it.for(FORMATS.filter(({ name }) => name !== 'chat'))(
    'is left when its first event is late, for a caller of $name',
    async (format, test) => {
      const { provider, rig } = await startSite(test, OPENAI_COMPATIBLE)
      provider.respond = (response, { type, bytes }) => {
        response.writeHead(200, { 'content-type': type })
        if (provider.requests.length > 1) return response.end(bytes)
        const timer = setInterval(() => response.write(': keep-alive\n\n'), 50)
        response.on('close', () => clearInterval(timer))
      }
      const answer = await sendQuestion(rig.url, format, true)
      expect(textIn(await answer.text(), format)).toBe(SENTENCE)
      expect(provider.requests).toHaveLength(2)
      expect((await onlyEnd(rig)).data).toMatchObject({ channelId: 3, end: 'done' })
    },
  )
})

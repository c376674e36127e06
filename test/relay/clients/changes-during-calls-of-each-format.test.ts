import { connect } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { userStream } from '#domain/users/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig, TOKEN, USER } from '../support/relay-rig.ts'
import { FORMATS, MODEL, sendQuestion, splitAtText, textIn } from './caller-formats.ts'
import { CHANNEL_TYPES, changingProvider } from './changing-provider.ts'
import { CHARGES, SENTENCE } from './provider-families.ts'

const provider = startedForEach(changingProvider)
const rig = startedForEach(() => relayRig({ deadlines: { writeStallMs: 500, accessCheckMs: 100 } }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

describe.each(FORMATS)('a stream in the format $name', (format) => {
  let finish = (): void => {}
  beforeEach(async () => {
    await rig.addChannel(2, {
      type: CHANNEL_TYPES[format.name] ?? 1,
      ...{ baseUrl: provider.url, models: [MODEL] },
    })
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    provider.respond = async (response, { type, bytes }) => {
      const [before, text, rest] = splitAtText(bytes, format)
      response.writeHead(200, { 'content-type': type }).write(Buffer.concat([before, text]))
      await finished
      response.end(rest)
    }
  })

  /** Begins a stream, and returns its rest once its first bytes have arrived. */
  async function begun(): Promise<Promise<string>> {
    const response = await sendQuestion(rig.url, format, true)
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    const first = decoder.decode((await reader?.read())?.value, { stream: true })
    const rest = async () => {
      let text = first
      for (;;) {
        const part = await reader?.read().catch(() => undefined)
        if (part === undefined || part.done) return text
        text += decoder.decode(part.value, { stream: true })
      }
    }
    return rest()
  }

  it.each<[string, () => Promise<void>]>([
    ['its price changes', () => rig.setOption('ModelRatio', { [MODEL]: 99 })],
    ['the price of its group changes', () => rig.setOption('GroupRatio', { default: 7 })],
    ['a channel is added', () => rig.addChannel(3, { models: [MODEL] })],
    [
      'its channel is deleted',
      () =>
        rig.append(CHANNELS_STREAM, {
          ...{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } },
        }),
    ],
  ])('is charged as it was admitted if %s', async (_name, change) => {
    const rest = begun()
    await expect.poll(() => provider.requests.length).toBe(1)
    await change()
    finish()
    expect(textIn(await await rest, format)).toBe(SENTENCE)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  })

  it.each<[string, () => Promise<void>]>([
    [
      'token is deleted',
      () =>
        rig.append(tokensStream(USER), {
          ...{ type: 'TokensDeleted', v: 1, data: { userId: USER, tokenIds: [TOKEN] } },
        }),
    ],
    [
      'user is disabled',
      () => rig.append(userStream(USER), { type: 'UserDisabled', v: 1, data: { userId: USER } }),
    ],
  ])('ends once, and is charged for what was delivered, if its %s', async (_name, change) => {
    const response = await sendQuestion(rig.url, format, true)
    await change()
    const body = await response.text().catch(() => '')
    expect(body).not.toMatch(format.end)
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    const { type, data } = await onlyEnd(rig)
    expect([type, (data as CallSettled['data']).charge > 0]).toEqual(['CallSettled', true])
    finish()
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('of a caller who stops reading ends, and is charged for its part', async () => {
    provider.respond = (response, { type, bytes }) => {
      const [before, text] = splitAtText(bytes, format)
      const many = Buffer.concat(Array.from({ length: 200 }, () => text))
      response.writeHead(200, { 'content-type': type }).write(before)
      let left = 2_000
      const write = (): void => {
        while (left > 0 && !response.destroyed) {
          left -= 1
          if (!response.write(many)) return
        }
      }
      response.on('drain', write)
      write()
    }
    const { hostname, port } = new URL(rig.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    const body = JSON.stringify(format.body(true))
    socket.write(
      `POST ${format.path(true)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-${KEY}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const ended = async () => (await rig.callEvents()).some(({ type }) => type === 'CallSettled')
    await expect.poll(ended, { timeout: 60_000 }).toBe(true)
    const { charge, end } = (await onlyEnd(rig)).data as CallSettled['data']
    expect(['client-gone', 'incomplete']).toContain(end)
    expect(charge).toBeGreaterThan(CHARGES.text)
    expect(rig.relay.inFlight()).toBe(0)
    socket.destroy()
  })
})

describe.each(FORMATS)('fifty calls of one user in the format $name', (format) => {
  it('are admitted without conflicts, and each is billed once', async () => {
    const type = CHANNEL_TYPES[format.name] ?? 1
    await rig.addChannel(2, { type, baseUrl: provider.url, models: [MODEL] })
    const calls = Array.from({ length: 50 }, () => sendQuestion(rig.url, format, false))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses).toEqual(Array(50).fill(200))
    const settled = (await rig.callEvents()).filter(({ type: name }) => name === 'CallSettled')
    expect(settled).toHaveLength(50)
    expect(await rig.balance()).toBe(1_000_000_000n - 50n * BigInt(CHARGES.text))
  })

  it('are retried only as the retry budget allows if all fail', async () => {
    const type = CHANNEL_TYPES[format.name] ?? 1
    await rig.setOption('RetryTimes', '3')
    for (const channelId of [2, 3, 4]) {
      await rig.addChannel(channelId, { type, baseUrl: provider.url, models: [MODEL] })
    }
    // All first attempts fail together. The later ones are retries, and take a while.
    const first: (() => void)[] = []
    let running = 0
    let most = 0
    provider.respond = (response) => {
      const fail = () => response.writeHead(503).end('{"error":{"message":"No."}}')
      if (provider.requests.length <= 50) {
        first.push(fail)
        if (first.length === 50) for (const each of first) each()
        return
      }
      running += 1
      most = Math.max(most, running)
      setTimeout(() => {
        running -= 1
        fail()
      }, 300)
    }
    const calls = Array.from({ length: 50 }, () => sendQuestion(rig.url, format, false))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses).toEqual(Array(50).fill(503))
    // At most 24 retries run at the same time (see `RetryBudget`).
    expect(most).toBeLessThanOrEqual(24)
    expect(provider.requests.length).toBeLessThan(150)
    const released = (await rig.callEvents()).filter(({ type: name }) => name === 'CallReleased')
    expect(released).toHaveLength(50)
    expect(await rig.balance()).toBe(1_000_000_000n)
  })
})

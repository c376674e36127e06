import { setTimeout as wait } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { onlyEnd, relayRig } from '../support/relay-rig.ts'
import { FORMATS, MODEL, sendQuestion, splitAtText, textIn } from './caller-formats.ts'
import { CHANNEL_TYPES, changingProvider } from './changing-provider.ts'
import { CHARGES, SENTENCE } from './provider-families.ts'

const DEADLINES = { firstEventMs: 400, plainAnswerStartMs: 400, idleMs: 400 }
const provider = startedForEach(changingProvider)
const rig = startedForEach(() => relayRig({ deadlines: DEADLINES }))

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

describe.each(FORMATS)('a slow provider of the format $name', (format) => {
  beforeEach(() =>
    rig.addChannel(2, {
      type: CHANNEL_TYPES[format.name] ?? 1,
      ...{ baseUrl: provider.url, models: [MODEL] },
    }),
  )
  const send = (isStream: boolean) => sendQuestion(rig.url, format, isStream)

  it.each([false, true])('that sends no headers costs nothing (stream: %s)', async (isStream) => {
    provider.respond = () => {}
    expect((await send(isStream)).status).toBe(504)
    const { type, data } = await onlyEnd(rig)
    expect([type, data]).toEqual(['CallReleased', expect.objectContaining({ reason: 'timeout' })])
    expect(rig.relay.inFlight()).toBe(0)
  })

  it.each([false, true])('that sends only headers costs nothing (stream: %s)', async (isStream) => {
    provider.respond = (response, { type }) => {
      response.writeHead(200, { 'content-type': type }).flushHeaders()
    }
    expect((await send(isStream)).status).toBe(504)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('that stops within a stream is charged for what was delivered', async () => {
    provider.respond = (response, { type, bytes }) => {
      const [before, text] = splitAtText(bytes, format)
      response.writeHead(200, { 'content-type': type }).write(Buffer.concat([before, text]))
    }
    const body = await (await send(true)).text().catch(() => '')
    expect(body).not.toMatch(format.end)
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'timeout' })
    expect((data as { charge: number }).charge).toBeGreaterThan(0)
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('that sends few bytes at a time is read to the end', async () => {
    provider.respond = async (response, { type, bytes }) => {
      response.writeHead(200, { 'content-type': type })
      const size = Math.ceil(bytes.length / 8)
      for (let at = 0; at < bytes.length; at += size) {
        response.write(bytes.subarray(at, at + size))
        await wait(100)
      }
      response.end()
    }
    const body = await (await send(true)).text()
    expect(textIn(body, format)).toBe(SENTENCE)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  })
})

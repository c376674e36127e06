import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { onlyEnd, relayRig } from '../support/relay-rig.ts'
import { FORMATS, MODEL, sendQuestion, textIn } from './caller-formats.ts'
import { CHANNEL_TYPES, changingProvider } from './changing-provider.ts'
import { CHARGES, SENTENCE } from './provider-families.ts'

const provider = startedForEach(changingProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('RetryTimes', '0')
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

const ERROR = JSON.stringify({ error: { message: 'No.' } })
/** Headers that belong to the provider's connection or account. */
const PRIVATE = {
  ...{ 'set-cookie': 'session=planted', 'x-goog-api-key': 'planted', server: 'planted' },
  ...{ 'openai-organization': 'planted', 'x-envoy-upstream': 'planted', via: 'planted' },
  ...{ 'keep-alive': 'timeout=planted', 'www-authenticate': 'planted', location: '/planted' },
}

describe.each(FORMATS)('a provider of the format $name', (format) => {
  beforeEach(() =>
    rig.addChannel(2, {
      type: CHANNEL_TYPES[format.name] ?? 1,
      ...{ baseUrl: provider.url, models: [MODEL] },
    }),
  )
  const send = (isStream: boolean) => sendQuestion(rig.url, format, isStream)

  it.each<[string, string | null]>([
    ['7', '7'],
    [new Date(Date.now() + 60_000).toUTCString(), '60'],
    ['1000000000', '3600'],
    ['-5', null],
    ['soon', null],
  ])('that asks to wait for %s is obeyed within an hour', async (requested, shown) => {
    provider.respond = (response) => {
      response.writeHead(429, { 'retry-after': requested }).end(ERROR)
    }
    for (const isStream of [false, true]) {
      const { status, headers } = await send(isStream)
      expect(status).toBe(429)
      const delay = headers.get('retry-after')
      if (shown === '60') expect(Math.abs(Number(delay) - 60)).toBeLessThan(20)
      else expect(delay).toBe(shown)
    }
    expect((await rig.callEvents()).filter(({ type }) => type === 'CallSettled')).toEqual([])
  })

  it.each([302, 307])('that redirects with %i is not followed', async (status) => {
    provider.respond = (response) => {
      response.writeHead(status, { location: `${provider.url}/elsewhere` }).end()
    }
    expect((await send(true)).status).toBe(502)
    expect(provider.requests).toHaveLength(1)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it.each<[string, readonly number[], number]>([
    ['the site’s key', [401, 403], 502],
    ['the request', [404, 422], 0],
    ['an overload', [500, 502, 503, 504, 529], 0],
  ])('that refuses %s costs nothing', async (_name, statuses, shown) => {
    for (const status of statuses) {
      provider.respond = (response) => {
        response.writeHead(status).end(ERROR)
      }
      expect((await send(false)).status).toBe(shown === 0 ? status : shown)
    }
    expect((await rig.callEvents()).filter(({ type }) => type === 'CallSettled')).toEqual([])
  })

  it('that sends private headers does not show them', async () => {
    provider.respond = (response, { type, bytes }) => {
      const many = Array.from({ length: 400 }, (_, at) => [`x-many-${at}`, 'planted'])
      response.writeHead(200, { ...PRIVATE, ...Object.fromEntries(many), 'content-type': type })
      response.end(bytes)
    }
    for (const isStream of [false, true]) {
      const response = await send(isStream)
      expect([...response.headers].join()).not.toContain('planted')
      expect(textIn(await response.text(), format)).toBe(SENTENCE)
    }
  })

  it.each([
    ['a huge header', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(70_000)}\r\n\r\n`],
    ['the status 0', 'HTTP/1.1 0 None\r\ncontent-length: 0\r\n\r\n'],
    ['the status 1000', 'HTTP/1.1 1000 Many\r\ncontent-length: 0\r\n\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc\r\n\r\n'],
    ['a broken header', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('that answers with %s ends the call, and costs nothing', async (_name, text) => {
    provider.respond = (_response, _good, socket) => {
      socket.end(text)
    }
    for (const isStream of [false, true]) expect((await send(isStream)).status).toBe(502)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallReleased')
    expect(ends).toHaveLength(2)
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('is asked for uncompressed answers, and a compressed one is not expanded', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 'a'))
    provider.respond = (response, { type }) => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bomb)
    }
    for (const isStream of [false, true]) {
      const response = await send(isStream)
      expect(response.status).toBe(502)
      expect((await response.text()).length).toBeLessThan(10_000)
    }
    const [{ 'accept-encoding': accepted = 'identity' } = {}] = provider.requests
    expect(accepted).toBe('identity')
    expect((await rig.callEvents()).filter(({ type }) => type === 'CallSettled')).toEqual([])
  })

  it('that is correct is billed to the unit', async () => {
    expect(textIn(await (await send(true)).text(), format)).toBe(SENTENCE)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  })
})

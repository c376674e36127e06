import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { onlyEnd, relayRig } from '../support/relay-rig.ts'
import { FORMATS, MODEL, sendQuestion, textIn } from './caller-formats.ts'
import { CHARGES, providerOfAllFormats, SENTENCE } from './provider-families.ts'

const CHANNEL_TYPES: Readonly<Record<string, number>> = {
  chat: 8,
  messages: 14,
  responses: 1,
  Gemini: 24,
}
const provider = startedForEach(() => providerOfAllFormats())
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
})

/** What a lenient reader of server-sent events accepts. */
const WRITTEN_OTHERWISE: readonly (readonly [string, (text: string) => string])[] = [
  ['line ends of two bytes', (text) => text.replaceAll('\n', '\r\n')],
  ['no space after the colon', (text) => text.replaceAll('data: ', 'data:')],
  ['comments', (text) => text.replaceAll('data: ', ': a comment\ndata: ')],
  ['events after the end', (text) => `${text}data: {"x":1}\n\n`],
  ['other fields', (text) => text.replaceAll('data: ', 'id: 7\nretry: 10\ndata: ')],
]

/** Counts that no provider can mean. */
const LIES = ['-5', '1e30', '"many"', 'null', '0.5', '99999999999', '[1]']
const COUNTS = /"(\w*(?:[Tt]oken)\w*)":\d+/g
const CACHED = /"(cached_tokens|cachedContentTokenCount)":\d+/g
/** The highest input of such a request that is charged. */
const INPUT_MOST = 101_000
/**
 * The highest output, which its limit or its text explains. The Responses API reports reasoning, so
 * its output may be outside the limit.
 */
const OUTPUT_MOST: Readonly<Record<string, number>> = { responses: 100_200 }

describe.each(FORMATS)('a provider of the format $name', (format) => {
  beforeEach(() =>
    rig.addChannel(2, {
      type: CHANNEL_TYPES[format.name] ?? 1,
      baseUrl: provider.url,
      models: [MODEL],
    }),
  )
  const send = (isStream: boolean) => sendQuestion(rig.url, format, isStream)

  it.each(WRITTEN_OTHERWISE)('may write its stream with %s', async (_name, change) => {
    provider.change = change
    const body = await (await send(true)).text()
    expect(textIn(body, format)).toBe(SENTENCE)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  })

  it('that answers a stream request with one JSON object is read all the same', async () => {
    const plain = await (await send(false)).text()
    provider.change = () => plain
    provider.contentType = 'application/json'
    const body = await (await send(true)).text()
    expect(textIn(body, format)).toBe(SENTENCE)
    const [, last] = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(last?.data).toMatchObject({ charge: CHARGES.text, end: 'done' })
  })

  it.each([
    ['a web page', '<html>Welcome</html>', 'text/html'],
    ['text that is not JSON', 'Welcome', 'application/json'],
    ['an empty body', '', 'application/json'],
    ['an empty list', '[]', 'application/json'],
  ])('that answers with %s costs nothing', async (_name, text, contentType) => {
    provider.change = () => text
    provider.contentType = contentType
    const response = await send(false)
    expect(response.status).toBe(502)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
  })

  it('whose event never ends is cut before it fills the memory', async () => {
    const endless = `data: {"x":"${'y'.repeat(3 * 1024 * 1024)}`
    provider.change = (text) => text.slice(0, text.indexOf('\n\n') + 2) + endless
    const body = await (await send(true)).text().catch(() => '')
    expect(body.length).toBeLessThan(1024 * 1024)
    expect(await rig.callEvents()).toHaveLength(2)
  })

  it.each(LIES)('that reports %s tokens neither credits nor overcharges', async (lie) => {
    provider.change = (text) => text.replace(COUNTS, (_, name: string) => `"${name}":${lie}`)
    for (const isStream of [false, true]) expect((await send(isStream)).status).toBe(200)
    await expect.poll(async () => (await rig.callEvents()).length).toBe(4)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends).toHaveLength(2)
    for (const { data } of ends) {
      const { charge } = data as { charge: number }
      expect(charge).toBeGreaterThan(0)
      const output = OUTPUT_MOST[format.name] ?? 1_150
      expect(charge).toBeLessThanOrEqual(Math.ceil((INPUT_MOST + output * 4) * 1.25))
    }
  })

  it('that reports no counts is charged by the gateway’s own', async () => {
    provider.change = (text) => text.replace(COUNTS, '"other":0')
    for (const isStream of [false, true]) expect((await send(isStream)).status).toBe(200)
    await expect.poll(async () => (await rig.callEvents()).length).toBe(4)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    for (const { data } of ends) {
      expect(data).toMatchObject({ usageSource: 'estimated', anomaly: 'missing' })
      expect((data as { charge: number }).charge).toBeLessThanOrEqual(CHARGES.text)
    }
  })

  it('that reports a cache above the input is charged for no more than the input', async () => {
    provider.change = (text) => text.replace(CACHED, '"$1":131')
    for (const isStream of [false, true]) expect((await send(isStream)).status).toBe(200)
    await expect.poll(async () => (await rig.callEvents()).length).toBe(4)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    // The whole input is cached, at half the price. In Messages, the cache is beside the input.
    const charge = Math.round((130 / 2 + 12 * 4) * 1.25)
    const end =
      format.name === 'messages'
        ? { charge: CHARGES.text, anomaly: null }
        : { charge, anomaly: 'parts-exceed-whole' }
    for (const { data } of ends) expect(data).toMatchObject(end)
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from '../support/relay-rig.ts'
import {
  addFamilyChannel,
  CHARGES,
  CITY_JSON,
  FAMILIES,
  providerOfAllFormats,
  SENTENCE,
} from './provider-families.ts'
import { CLIENTS } from './sdk-clients.ts'

const MODEL = 'model'
const provider = startedForEach(() => providerOfAllFormats())
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
  await rig.setOption('CacheRatio', { [MODEL]: 0.5 })
  await rig.setOption('StoreConvertedResponsesEnabled', 'true')
})

const charges = async () =>
  (await rig.callEvents())
    .filter(({ type }) => type !== 'CallAdmitted' && type !== 'CallProgressed')
    .map(({ type, data }) => [type, 'charge' in data ? data.charge : null])

const TEXT = 'Let me see.'
const CONTENT = { type: 'output_text', text: TEXT, annotations: [] }
const ITEM = { id: 'msg_0', type: 'message', role: 'assistant', status: 'completed' }
/** Adds a text before the tool call of a plain answer, in the format of each family. */
const withText = (answer: string): string =>
  answer
    .replace('"content":null', `"content":"${TEXT}"`)
    .replace('[{"type":"tool_use"', `[{"type":"text","text":"${TEXT}"},{"type":"tool_use"`)
    .replace('[{"functionCall"', `[{"text":"${TEXT}"},{"functionCall"`)
    .replace('[{"id":"fc_1"', `[${JSON.stringify({ ...ITEM, content: [CONTENT] })},{"id":"fc_1"`)

describe.each(CLIENTS)('$name', ({ name, useTool, askForJson }) => {
  describe.each(FAMILIES)('on a channel of $name', (family) => {
    const access = () => ({ url: rig.url, key: `sk-${KEY}`, model: MODEL })

    beforeEach(() => addFamilyChannel(rig, family, provider.url, MODEL))

    it.each([
      ['plain', false],
      ['streamed', true],
    ])('uses a tool, %s, and pays exactly for both calls', async (_name, isStream) => {
      expect(await useTool(access(), isStream)).toBe(SENTENCE)
      expect(await charges()).toEqual([
        ['CallSettled', CHARGES.call],
        ['CallSettled', CHARGES.text],
      ])
    })

    // By default, the provider `openai` of `ai` sends the text of its first step back only as the
    // id of an item. OpenAI stores the item. The gateway stores those of converted responses,
    // because this site's option is on.
    it('uses a tool in a step with a text, and sends both back', async () => {
      provider.change = withText
      expect(await useTool(access(), false)).toBe(SENTENCE)
      const body = provider.requests.at(-1)?.body ?? ''
      const isItemStored = body.includes('{"type":"item_reference","id":"msg_0"}')
      expect(body.includes(TEXT) || (name === 'ai (openai)' && isItemStored)).toBe(true)
    })

    it.each([
      ['plain', false],
      ['streamed', true],
    ])('gets an answer with a JSON schema, %s', async (_name, isStream) => {
      expect(await askForJson(access(), isStream)).toBe(CITY_JSON)
      expect(provider.requests.map(({ body }) => body).join()).toContain('"city"')
      expect(await charges()).toEqual([['CallSettled', CHARGES.text]])
    })
  })
})

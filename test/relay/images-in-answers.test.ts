import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-image'
const PATH = `/v1beta/models/${MODEL}:generateContent`
const STREAM_PATH = `/v1beta/models/${MODEL}:streamGenerateContent`
const CHAT_PATH = '/v1/chat/completions'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const withChannel = async (type: number, changes: object = {}) => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type, baseUrl: provider.url, models: [MODEL], ...changes })
}

beforeEach(async () => {
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 6 })
  await rig.setOption('AudioRatio', { [MODEL]: 3 })
  await rig.setOption('AudioCompletionRatio', { [MODEL]: 2 })
  await rig.setOption('ImageCompletionRatio', { [MODEL]: 60 })
  await rig.setOption('MaxOutputTokens', { [MODEL]: 4_000 })
})

const detail = (modality: string, tokenCount: unknown) => ({ modality, tokenCount })
const USAGE = {
  promptTokenCount: 1_000,
  candidatesTokenCount: 1_220,
  thoughtsTokenCount: 80,
  totalTokenCount: 2_300,
  promptTokensDetails: [detail('TEXT', 900), detail('AUDIO', 100)],
  candidatesTokensDetails: [detail('TEXT', 80), detail('AUDIO', 20), detail('IMAGE', 1_120)],
}
/** 900 text, 100 sound; in the answer 160 text and thoughts, 20 sound, 1120 images. */
const CHARGE = 900 + 100 * 3 + 160 * 6 + 20 * 3 * 2 + 1_120 * 60

const PICTURE = 'A'.repeat(1_400_000)
const inlineData = { mimeType: 'image/png', data: PICTURE }
const candidate = (parts: readonly object[], finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
})
const ANSWER = {
  ...candidate([{ text: 'Here it is.' }, { inlineData }], 'STOP'),
  usageMetadata: USAGE,
  modelVersion: MODEL,
}
const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`
const CONTENTS = [{ role: 'user', parts: [{ text: 'Draw a cat' }] }]

async function send(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}
const generate = (generationConfig: object = {}) =>
  send(PATH, { contents: CONTENTS, generationConfig })

const answerWith = (path: string, events: readonly object[]) =>
  provider.answers.set(`POST ${path}`, {
    headers: { 'content-type': 'text/event-stream' },
    pieces: [Buffer.from(events.map(event).join(''))],
  })

/** Returns the hold and the price of the only call. */
async function admission() {
  const [admitted] = await rig.callEvents()
  return admitted?.data as unknown as {
    readonly hold: number
    readonly price: Record<string, string>
  }
}

describe('images in an answer of Gemini', () => {
  beforeEach(() => withChannel(24))

  it('are billed to the unit by their price', async () => {
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    const before = await rig.balance()
    expect((await generate()).status).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: CHARGE,
      usageSource: 'upstream',
      anomaly: null,
      price: { completion: '6', imageCompletion: '60' },
      usage: {
        ...{ inputUncached: 900, inputAudio: 100 },
        ...{ output: 1_300, reasoning: 80, outputAudio: 20, outputImage: 1_120 },
      },
    })
    expect(before - (await rig.balance())).toBe(BigInt(CHARGE))
  })

  it('are billed the same in a stream', async () => {
    const { candidatesTokensDetails: _, ...early } = USAGE
    answerWith(STREAM_PATH, [
      { ...candidate([{ text: 'Here ' }]), usageMetadata: { ...early, candidatesTokenCount: 3 } },
      { ...candidate([{ inlineData }]), usageMetadata: USAGE },
      { ...candidate([{ text: '.' }], 'STOP'), usageMetadata: USAGE },
    ])
    await send(`${STREAM_PATH}?alt=sse`, { contents: CONTENTS })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it.each([
    ['above the answer', 9_000, 1_220],
    ['negative', -1_120, 1_220],
    ['text', '1120', 1_220],
  ])(
    'cost at most the answer, and no less than the pictures, for a count that is %s',
    async (...made) => {
      const [, count, most] = made
      const usageMetadata = { ...USAGE, candidatesTokensDetails: [detail('IMAGE', count)] }
      provider.answers.set(`POST ${PATH}`, { body: { ...ANSWER, usageMetadata } })
      await generate()
      const { data } = await onlyEnd(rig)
      const { usage, charge } = data as unknown as {
        readonly usage: { readonly outputImage: number }
        readonly charge: number
      }
      expect(usage).toMatchObject({ output: expect.any(Number) })
      expect(usage.outputImage).toBeGreaterThanOrEqual(1_120)
      expect(Number(charge)).toBeGreaterThanOrEqual(CHARGE - 2_000)
      expect(usage.outputImage).toBeLessThanOrEqual(Math.max(most, 1_400))
    },
  )

  it('of a cut stream are billed by their size at their price', async () => {
    answerWith(STREAM_PATH, [candidate([{ text: 'Here ' }]), candidate([{ inlineData }])])
    await send(`${STREAM_PATH}?alt=sse`, { contents: CONTENTS })
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usage: { outputImage: 1_400 } })
    expect(Number((data as { charge: unknown }).charge)).toBeGreaterThan(1_400 * 60)
  })

  it('without a price cost as much as text', async () => {
    await rig.setOption('ImageCompletionRatio', {})
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    await generate()
    const charge = CHARGE - 1_120 * 60 + 1_120 * 6
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ charge, usage: { outputImage: 1_120 } })
    expect((data as { price: object }).price).not.toHaveProperty('imageCompletion')
  })
})

describe('the hold of a call to a model with images', () => {
  const TEXT = { responseModalities: ['TEXT'] }

  it.each([
    ['no modalities', {}],
    ['images', { responseModalities: ['TEXT', 'IMAGE'] }],
    ['an empty list', { responseModalities: [] }],
    ['an unknown modality', { response_modalities: ['TEXT', 'VIDEO'] }],
  ])('covers images for %s', async (_name, config) => {
    await withChannel(24)
    provider.answers.set(`POST ${PATH}`, { body: ANSWER })
    await generate(config)
    const { hold, price } = await admission()
    expect(price).toMatchObject({ imageCompletion: '60' })
    expect(Number(hold)).toBeGreaterThan(4_000 * 60)
  })

  it.each([TEXT, { response_modalities: ['TEXT', 'AUDIO'] }])(
    'covers text and sound for %j, and images are then billed as text',
    async (config) => {
      await withChannel(24)
      provider.answers.set(`POST ${PATH}`, { body: ANSWER })
      await generate(config)
      const { hold, price } = await admission()
      expect(price).not.toHaveProperty('imageCompletion')
      expect(Number(hold)).toBeLessThan(4_000 * 7)
      const charge = CHARGE - 1_120 * 60 + 1_120 * 6
      expect((await onlyEnd(rig)).data).toMatchObject({ charge })
    },
  )

  it.each([
    ['an override', 24, { paramOverride: '{"generationConfig":{}}' }],
    ['a conversion', 14, {}],
  ])('covers images if %s could change the modalities', async (_name, type, changes) => {
    await withChannel(type, changes)
    await generate(TEXT)
    expect((await admission()).price).toMatchObject({ imageCompletion: '60' })
  })

  it('refuses two spellings of the modalities', async () => {
    await withChannel(24)
    const { status } = await generate({ ...TEXT, response_modalities: ['IMAGE'] })
    expect(status).toBe(400)
  })
})

describe('images in an answer of a chat', () => {
  const messages = [{ role: 'user', content: 'Draw a cat' }]
  const usage = {
    ...{ prompt_tokens: 1_000, completion_tokens: 1_200, total_tokens: 2_200 },
    completion_tokens_details: { image_tokens: 1_120, reasoning_tokens: 30 },
  }
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }
  const message = { role: 'assistant', content: 'Here it is.', images: [image] }
  const ANSWER_OF_CHAT = {
    ...{ id: 'c1', object: 'chat.completion', model: MODEL, usage },
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  }
  beforeEach(() => withChannel(1))

  it('are billed to the unit by their price', async () => {
    provider.answers.set(`POST ${CHAT_PATH}`, { body: ANSWER_OF_CHAT })
    await send(CHAT_PATH, { model: MODEL, messages, modalities: ['image', 'text'] })
    expect((await onlyEnd(rig)).data).toMatchObject({
      charge: 1_000 + 80 * 6 + 1_120 * 60,
      usage: { output: 1_200, outputImage: 1_120 },
    })
  })

  it('are billed by their size if the provider reports no usage', async () => {
    const { usage: _, ...body } = ANSWER_OF_CHAT
    provider.answers.set(`POST ${CHAT_PATH}`, { body })
    await send(CHAT_PATH, { model: MODEL, messages })
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ usageSource: 'estimated', usage: { outputImage: 1_401 } })
  })

  it('are held even for a chat with text alone, because providers may send them', async () => {
    provider.answers.set(`POST ${CHAT_PATH}`, { body: ANSWER_OF_CHAT })
    await send(CHAT_PATH, { model: MODEL, messages, modalities: ['text'] })
    expect((await admission()).price).toMatchObject({ imageCompletion: '60' })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 1_000 + 80 * 6 + 1_120 * 60 })
  })
})

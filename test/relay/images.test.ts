import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { explainPrice } from '#console/features/usage-log/price-explanation.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { otherOfSettled } from '#projections/logs/log-row-details.ts'
import { recomputedCharge } from '#test/domain/pricing/independent-charge.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const DALLE = 'dall-e-3'
const GPT = 'gpt-image-1'
const IMAGEN = 'imagen-4.0-generate-001'
const GEMINI = 'gemini-2.5-flash-image'
const PATH = 'POST /v1/images/generations'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const ofOpenAi = ['dall-e-2', DALLE, GPT]
  await rig.addChannel(2, { type: 1, baseUrl: provider.url, models: ofOpenAi })
  await rig.addChannel(3, { type: 24, baseUrl: provider.url, models: [IMAGEN, GEMINI] })
  await rig.setOption('ModelPrice', { [DALLE]: 0.04, [IMAGEN]: 0.04 })
  await rig.setOption('ModelRatio', { [GPT]: 2.5, [GEMINI]: 0.15 })
  await rig.setOption('ImageRatio', { [GPT]: 2 })
  await rig.setOption('ImageCompletionRatio', { [GPT]: 8, [GEMINI]: 100 })
})

const images = (count: number) => ({
  created: 1,
  data: Array.from({ length: count }, () => ({ url: 'https://images.example/a.png' })),
})

async function post(path: string, body: unknown) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const generate = (body: Record<string, unknown>) =>
  post('/v1/images/generations', { model: DALLE, prompt: 'a cat', ...body })
const sent = () => JSON.parse(provider.requests.at(-1)?.body ?? '') as Record<string, unknown>
const event = (data: Record<string, unknown>): Buffer =>
  Buffer.from(`event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`)
const SSE = { 'content-type': 'text/event-stream' }

async function settledCall() {
  const { type, data } = await onlyEnd(rig)
  if (type !== 'CallSettled') throw new Error(type)
  const charge = BigInt(data.charge)
  expect(charge).toBe(recomputedCharge(data.price, data.usage, data.calls))
  const { other } = otherOfSettled(data)
  expect(explainPrice(other, charge)).toMatchObject({ isExact: true })
  return data
}

describe('a price per image', () => {
  it.each([
    ['256x256', undefined, 1, 8_000],
    ['512x512', undefined, 2, 18_000],
    ['384x512', undefined, 1, 9_000],
    ['1x1', undefined, 1, 20_000],
    ['128x512', 'hd', 1, 40_000],
    ['0x0', undefined, 1, 40_000],
    ['00256x00256', undefined, 1, 40_000],
    [undefined, undefined, 1, 20_000],
    ['1024x1024', 'hd', 1, 40_000],
    ['1792x1024', 'standard', 1, 40_000],
    ['1024x1792', 'hd', 1, 60_000],
    ['1792X1024', undefined, 1, 40_000],
    ['huge', 'best', 1, 60_000],
  ])('of the size %s and quality %s costs for %d', async (size, quality, n, charge) => {
    provider.answers.set(PATH, { body: images(n) })
    const { status, text } = await generate({ size, quality, n })
    expect([status, text]).toEqual([200, JSON.stringify(images(n))])
    const data = await settledCall()
    expect(data).toMatchObject({ charge, hold: charge, formats: ['images'] })
    expect(data.usage).toMatchObject({ images: n })
  })

  it('is charged for what is delivered, but never for more than was requested', async () => {
    provider.answers.set(PATH, { body: images(2) })
    expect((await generate({ n: 4 })).status).toBe(200)
    expect(await settledCall()).toMatchObject({ charge: 40_000, hold: 80_000, calls: 2 })
  })

  it('is not charged for images beyond the request', async () => {
    provider.answers.set(PATH, { body: images(3) })
    await generate({ n: 1 })
    expect(await settledCall()).toMatchObject({ charge: 20_000, usage: { images: 3 } })
  })

  it('is charged for an answer whose caller has left', async () => {
    let answer = () => {}
    const until = new Promise<void>((resolve) => {
      answer = resolve
    })
    provider.answers.set(PATH, { body: images(1), until })
    const leaving = new AbortController()
    const call = fetch(`${rig.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: DALLE, prompt: 'a cat' }),
      signal: leaving.signal,
    }).catch(() => {})
    await expect.poll(() => provider.requests.length).toBe(1)
    leaving.abort()
    await call
    // The relay notices that the caller has left.
    await new Promise((resume) => setTimeout(resume, 200))
    answer()
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    expect(await settledCall()).toMatchObject({ charge: 20_000, end: 'client-gone' })
  })
})

const USAGE = {
  input_tokens: 150,
  input_tokens_details: { text_tokens: 50, image_tokens: 100 },
  output_tokens: 1_056,
  total_tokens: 1_206,
}
/** (50 + 100 · 2 + 1 056 · 8) · 2.5 */
const CHARGE = 21_745

describe('a price per token', () => {
  it.each(['constructor', '__proto__', 'toString'])(
    'holds the most for the unknown quality %s',
    async (quality) => {
      const body = { created: 1, data: [{ b64_json: 'QUJD' }], usage: USAGE }
      provider.answers.set(PATH, { body })
      const { status, text } = await generate({ model: GPT, quality, size: '1024x1024' })
      expect(status, text).toBe(200)
      expect(sent().quality).toBe(quality)
      expect(await settledCall()).toMatchObject({ charge: CHARGE })
    },
  )

  it('is charged by the usage of texts and images', async () => {
    const body = { created: 1, data: [{ b64_json: 'QUJD' }], usage: USAGE }
    provider.answers.set(PATH, { body })
    const { text } = await generate({ model: GPT, quality: 'medium', size: '1024x1024' })
    expect(text).toBe(JSON.stringify(body))
    const data = await settledCall()
    expect(data).toMatchObject({ charge: CHARGE, usageSource: 'upstream', anomaly: null })
    expect(data.usage).toMatchObject({ inputImage: 100, outputImage: 1_056, images: 1 })
    expect(Number(data.hold)).toBeGreaterThanOrEqual(1_056 * 20)
  })

  it('is charged for the delivered images if the usage is missing', async () => {
    provider.answers.set(PATH, { body: { created: 1, data: [{ b64_json: 'QUJD' }] } })
    await generate({ model: GPT, quality: 'medium', size: '1024x1024' })
    const { usage, usageSource } = await settledCall()
    expect([usage.outputImage, usageSource]).toEqual([1_056, 'estimated'])
  })

  it.each([
    [{ input_tokens: -5, output_tokens: -9 }, 'negative'],
    [{ input_tokens: 1e12, output_tokens: 1 }, 'absurd'],
    [{ input_tokens: 10, output_tokens: 0 }, 'zero'],
  ])('never gets cheaper by impossible usage: %j', async (usage, anomaly) => {
    provider.answers.set(PATH, { body: { created: 1, data: [{ b64_json: 'QUJD' }], usage } })
    await generate({ model: GPT, quality: 'low', size: '1024x1024' })
    const data = await settledCall()
    expect(data.anomaly).toBe(anomaly)
    if (anomaly !== 'zero') expect(data.usage.output).toBeGreaterThanOrEqual(272)
  })
})

const PARTIAL = { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: 'QUJD' }
const COMPLETED = { type: 'image_generation.completed', b64_json: 'REVG', usage: USAGE }
const STREAMED = { model: GPT, stream: true, partial_images: 1, quality: 'medium' }

describe('a stream of an image', () => {
  it('passes byte for byte and is charged by its usage', async () => {
    const pieces = [event(PARTIAL), event(COMPLETED)]
    provider.answers.set(PATH, { headers: SSE, pieces })
    const { text } = await generate(STREAMED)
    expect(text).toBe(Buffer.concat(pieces).toString())
    expect(sent()).toMatchObject({ stream: true, partial_images: 1 })
    expect(sent()).not.toHaveProperty('stream_options')
    expect(await settledCall()).toMatchObject({ charge: CHARGE, usage: { images: 1 } })
  })

  it('that is cut is charged for the image that it has shown', async () => {
    provider.answers.set(PATH, { headers: SSE, pieces: [event(PARTIAL)] })
    const { text } = await generate({ ...STREAMED, size: '1024x1024' })
    expect(text).toContain('"error"')
    const data = await settledCall()
    expect(data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
    expect(data.usage).toMatchObject({ images: 1, outputImage: 1_156 })
  })

  it('whose caller leaves is read to its end and charged by its usage', async () => {
    let goOn = () => {}
    const pause = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const pieces = [event(PARTIAL), event({ ...COMPLETED, b64_json: 'R'.repeat(2_000_000) })]
    provider.answers.set(PATH, { headers: SSE, pieces, pause })
    const response = await fetch(`${rig.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'a cat', ...STREAMED }),
    })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await new Promise((resume) => setTimeout(resume, 100))
    goOn()
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    expect(await settledCall()).toMatchObject({ charge: CHARGE, end: 'client-gone' })
  })
})

describe('a request for images', () => {
  it.each([
    [{ prompt: undefined }, 'missing_parameter', 'prompt'],
    [{ prompt: '' }, 'invalid_parameter', 'prompt'],
    [{ n: 0 }, 'invalid_parameter', 'n'],
    [{ n: 11 }, 'invalid_parameter', 'n'],
    [{ n: 1.5 }, 'invalid_parameter', 'n'],
    [{ n: '2' }, 'invalid_parameter', 'n'],
    [{ size: 1024 }, 'invalid_parameter', 'size'],
    [{ quality: [] }, 'invalid_parameter', 'quality'],
    [{ stream: 'yes' }, 'invalid_parameter', 'stream'],
    [{ response_format: 'base64' }, 'invalid_parameter', 'response_format'],
    [{ response_format: '', stream: true }, 'invalid_parameter', 'response_format'],
    [{ response_format: ['url'] }, 'invalid_parameter', 'response_format'],
    [{ stream: true, n: 2 }, 'invalid_parameter', 'n'],
    [{ stream: true, partial_images: 4 }, 'invalid_parameter', 'partial_images'],
  ])('%j is refused with an error that names the field', async (body, code, param) => {
    const { status, text } = await generate(body)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { code, param } })
    expect(provider.requests).toHaveLength(0)
  })

  it.each(['url', 'b64_json', null])('may have the response format %s', async (value) => {
    provider.answers.set(PATH, { body: images(1) })
    expect((await generate({ response_format: value })).status).toBe(200)
    expect(sent()).toMatchObject({ response_format: value })
  })

  it('has the response format that an override of its channel states', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ response_format: 'base64' })
    await rig.addChannel(4, { type: 1, baseUrl: provider.url, models: [DALLE], paramOverride })
    provider.answers.set(PATH, { body: images(1) })
    expect((await generate({})).status).toBe(200)
    expect(sent()).toMatchObject({ response_format: 'base64' })
  })

  it('costs what an override of the channel makes of it', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ size: '1792x1024', quality: 'hd' })
    const channel = { type: 1, baseUrl: provider.url, models: [DALLE], paramOverride }
    await rig.addChannel(4, channel)
    provider.answers.set(PATH, { body: images(1) })
    await generate({ size: '256x256' })
    expect(sent()).toMatchObject({ size: '1792x1024', quality: 'hd' })
    expect(await settledCall()).toMatchObject({ charge: 60_000, hold: 60_000 })
  })

  it.each([
    [4, undefined, 4, 80_000],
    [2, 4, 2, 40_000],
    [1, 4, 1, 20_000],
  ])('of %d images costs as many, although the caller asked for %s', async (...counts) => {
    const [n, asked, delivered, charge] = counts
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    const paramOverride = JSON.stringify({ n })
    await rig.addChannel(4, { type: 1, baseUrl: provider.url, models: [DALLE], paramOverride })
    provider.answers.set(PATH, { body: images(delivered) })
    await generate({ n: asked })
    expect(sent()).toMatchObject({ n })
    expect(await settledCall()).toMatchObject({ charge, hold: charge })
  })

  it('is charged for what the channel that served it was sent', async () => {
    const paramOverride = JSON.stringify({ quality: 'hd' })
    const channel = { type: 1, baseUrl: provider.url, models: [DALLE], paramOverride, priority: -1 }
    await rig.addChannel(4, channel)
    provider.answers.set(PATH, { body: images(1) })
    await generate({ size: '256x256' })
    expect(sent()).toEqual({ model: DALLE, prompt: 'a cat', size: '256x256' })
    expect(await settledCall()).toMatchObject({ charge: 8_000, hold: 16_000, channelId: 2 })
  })

  it('is answered by a fallback model, within its own limit and at its own price', async () => {
    const [other, failing] = ['gpt-image-next', 'dall-e-none']
    await rig.addChannel(4, { type: 1, baseUrl: 'http://127.0.0.1:9', models: [failing] })
    await rig.addChannel(5, { type: 8, baseUrl: provider.url, models: [other] })
    await rig.setOption('ModelPrice', { [failing]: 0.04 })
    await rig.setOption('ModelRatio', { [other]: 2.5 })
    await rig.setOption('ImageCompletionRatio', { [other]: 8 })
    await rig.setOption('ModelFallbacks', { [failing]: [other] })
    const usage = { input_tokens: 10, output_tokens: 7_000, total_tokens: 7_010 }
    provider.answers.set(PATH, { body: { created: 1, data: [{ b64_json: 'QUJD' }], usage } })
    const { status } = await generate({ model: failing, size: '1024x1024', quality: 'low' })
    expect(status).toBe(200)
    expect(sent().model).toBe(other)
    // (10 + 7 000 · 8) · 2.5: a newer model needs more tokens, which are within the limit.
    const data = await settledCall()
    expect(data).toMatchObject({ charge: 140_025, model: other, requested: { model: failing } })
    expect(Number(data.hold)).toBeGreaterThanOrEqual(140_025)
  })

  it('loses members that could multiply what is generated', async () => {
    provider.answers.set(PATH, { body: images(1) })
    const sequential = { sequential_image_generation: 'auto', batch_size: 9, num_images: 9 }
    await generate({ ...sequential, style: 'vivid' })
    expect(sent()).toEqual({ model: DALLE, prompt: 'a cat', style: 'vivid' })
    expect(await settledCall()).toMatchObject({ dropped: Object.keys(sequential) })
  })

  it('goes only to a channel with images', async () => {
    const { status, text } = await generate({ model: 'imagen-nowhere' })
    expect([status, JSON.parse(text).error.param]).toEqual([404, 'model'])
  })
})

describe('an edit of images', () => {
  const EDITS = 'POST /v1/images/edits'
  const DATA = `data:image/png;base64,${'A'.repeat(400_000)}`
  const edit = (body: Record<string, unknown>) =>
    post('/v1/images/edits', { model: GPT, prompt: 'a hat', quality: 'low', ...body })

  it('passes byte for byte, and holds no more than its images may cost', async () => {
    const body = { created: 1, data: [{ b64_json: 'QUJD' }], usage: USAGE }
    provider.answers.set(EDITS, { body })
    const images = [{ image_url: DATA }, { image_url: 'https://images.example/b.png' }]
    const { status, text } = await edit({ images, mask: { image_url: DATA } })
    expect([status, text]).toEqual([200, JSON.stringify(body)])
    expect(sent()).toMatchObject({ images, mask: { image_url: DATA } })
    const data = await settledCall()
    expect(data).toMatchObject({ charge: CHARGE, formats: ['image-edits'] })
    expect(Number(data.hold)).toBeLessThan(26_000 * 5)
  })

  it.each([
    [{}, 'images'],
    [{ images: [] }, 'images'],
    [{ images: ['https://images.example/a.png'] }, 'images'],
    [{ images: [{ file_id: 'file-1' }] }, 'images[0].file_id'],
    [{ images: [{ image_url: 5 }] }, 'images[0].image_url'],
    [{ images: [{ image_url: 'x' }], mask: { file_id: 'file-1' } }, 'mask.file_id'],
    [{ images: [{ image_url: 'x' }], prompt: null }, 'prompt'],
    [{ images: [{ image_url: 'x' }], response_format: 'png' }, 'response_format'],
  ])('%j is refused with an error that names the field', async (body, param) => {
    const { status, text } = await edit(body)
    expect([status, JSON.parse(text).error.param]).toEqual([400, param])
    expect(provider.requests).toHaveLength(0)
  })

  it('streams', async () => {
    const pieces = [
      event({ ...PARTIAL, type: 'image_edit.partial_image' }),
      event({ ...COMPLETED, type: 'image_edit.completed' }),
    ]
    provider.answers.set(EDITS, { headers: SSE, pieces })
    const { text } = await edit({ images: [{ image_url: 'x' }], stream: true })
    expect(text).toBe(Buffer.concat(pieces).toString())
    expect(await settledCall()).toMatchObject({ charge: CHARGE, usage: { images: 1 } })
  })
})

describe('Imagen', () => {
  const answer = { predictions: [{ mimeType: 'image/png', bytesBase64Encoded: 'QUJD' }] }
  const NATIVE = `POST /v1beta/models/${IMAGEN}:predict`

  it('is called by predict, and charged for each image', async () => {
    provider.answers.set(NATIVE, { body: answer })
    const body = { instances: [{ prompt: 'a cat' }], parameters: { sampleCount: 2 } }
    const { status, text } = await post(`/v1beta/models/${IMAGEN}:predict`, body)
    expect([status, text]).toEqual([200, JSON.stringify(answer)])
    expect(sent()).toEqual(body)
    expect(await settledCall()).toMatchObject({ charge: 20_000, hold: 40_000 })
  })

  it('holds the price of a large image also for a long prompt', async () => {
    provider.answers.set(NATIVE, { body: answer })
    const instances = [{ prompt: 'a cat '.repeat(1_000) }]
    const parameters = { sampleCount: 1, imageSize: '4K' }
    await post(`/v1beta/models/${IMAGEN}:predict`, { instances, parameters })
    expect(await settledCall()).toMatchObject({ charge: 40_000, hold: 40_000 })
  })

  it('names addresses and other members that it can’t answer as losses', async () => {
    provider.answers.set(NATIVE, { body: answer })
    await generate({ model: IMAGEN, response_format: 'url', size: '1024x1024', style: 'vivid' })
    expect(await settledCall()).toMatchObject({ losses: ['response_format', 'style'] })
  })

  it('answers a blocked prompt as Google does, without a charge', async () => {
    const before = await rig.balance()
    provider.answers.set(NATIVE, { body: {} })
    const body = { instances: [{ prompt: 'a cat' }] }
    const { status, text } = await post(`/v1beta/models/${IMAGEN}:predict`, body)
    expect([status, JSON.parse(text)]).toEqual([200, {}])
    await expect.poll(() => rig.balance()).toBe(before)
  })

  it('is called by OpenAI’s images, whose answer has data', async () => {
    provider.answers.set(NATIVE, { body: answer })
    const { text } = await generate({ model: IMAGEN, n: 2, size: '1792x1024' })
    expect(sent()).toEqual({
      instances: [{ prompt: 'a cat' }],
      parameters: { sampleCount: 2, aspectRatio: '16:9', includeRaiReason: true },
    })
    expect(JSON.parse(text)).toEqual({
      created: expect.any(Number),
      data: [{ b64_json: 'QUJD' }],
    })
    // Imagen gets no size, so the price is that of the usual one.
    expect(await settledCall()).toMatchObject({
      charge: 20_000,
      hold: 40_000,
      usage: { images: 1 },
    })
  })

  it.each([
    { size: '256x256' },
    { size: '1024x1024', quality: 'hd' },
    { size: '256x256', prompt: 'a cat '.repeat(1_000) },
  ])('costs as much as the image that is generated: %j', async (request) => {
    provider.answers.set(NATIVE, { body: answer })
    await generate({ model: IMAGEN, ...request })
    expect(sent()).toMatchObject({ parameters: { sampleCount: 1, aspectRatio: '1:1' } })
    const losses = [...('quality' in request ? ['quality'] : ['size'])]
    expect(await settledCall()).toMatchObject({ charge: 20_000, hold: 20_000, losses })
  })

  it('holds the price of the most expensive image that any channel requests', async () => {
    await rig.addChannel(4, { type: 8, baseUrl: provider.url, models: [IMAGEN] })
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    provider.answers.set(NATIVE, { body: answer })
    provider.answers.set(PATH, { body: images(1) })
    await generate({ model: IMAGEN, size: '256x256' })
    const { charge, hold, channelId } = await settledCall()
    expect([hold, charge]).toEqual([20_000, channelId === 4 ? 8_000 : 20_000])
  })

  it.each([
    [{}, 'instances'],
    [{ instances: [{ prompt: 'a' }, { prompt: 'b' }] }, 'instances'],
    [{ instances: [{ prompt: 'a', image: {} }] }, 'instances[0].image'],
    [{ instances: [{ prompt: 'a' }], parameters: { sampleCount: 9 } }, 'parameters.sampleCount'],
    [
      { instances: [{ prompt: 'a' }], parameters: { storageUri: 'gs://b' } },
      'parameters.storageUri',
    ],
  ])('refuses %j with an error that names the field', async (body, field) => {
    const { status, text } = await post(`/v1beta/models/${IMAGEN}:predict`, body)
    expect(status).toBe(400)
    expect(text).toContain(field)
  })
})

describe('a provider that ignores members of a request', () => {
  it.each([
    [45, 'doubao-seedream-4-0', 'POST /api/v3/images/generations', 2, ['n', 'quality']],
    [45, 'doubao-seedream-4-0', 'POST /api/v3/images/generations', undefined, ['quality']],
    [47, 'flux-dev', PATH, undefined, ['quality']],
    [26, 'cogview-3-flash', 'POST /api/paas/v4/images/generations', 3, ['n', 'quality']],
  ])('of the type %d does not get them, and is not paid for them: %s', async (...of) => {
    const [type, model, path, n, losses] = of
    await rig.addChannel(4, { type, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelPrice', { [model]: 0.04 })
    provider.answers.set(path, { body: images(1) })
    await generate({ model, n, size: '512x512', quality: 'hd' })
    expect(sent()).toEqual({ model, prompt: 'a cat', size: '512x512' })
    expect(await settledCall()).toMatchObject({ charge: 9_000, hold: 9_000, losses })
  })

  it('of the type 26 gets it for the models that have one', async () => {
    const model = 'cogview-4'
    await rig.addChannel(4, { type: 26, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelPrice', { [model]: 0.04 })
    provider.answers.set('POST /api/paas/v4/images/generations', { body: images(1) })
    await generate({ model, n: 1, quality: 'hd' })
    expect(sent()).toMatchObject({ n: 1, quality: 'hd' })
    const data = await settledCall()
    expect(data).toMatchObject({ charge: 40_000, hold: 40_000 })
    expect(data).not.toHaveProperty('losses')
  })
})

describe('xAI’s images', () => {
  it('are charged without the size and the quality that the model does not get', async () => {
    const model = 'grok-2-image'
    await rig.addChannel(4, { type: 48, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelPrice', { [model]: 0.04 })
    provider.answers.set(PATH, { body: images(1) })
    const { text } = await generate({ model, size: '256x256', quality: 'hd' })
    expect(text).toBe(JSON.stringify(images(1)))
    expect(sent()).toEqual({ model, prompt: 'a cat', n: 1 })
    const losses = ['size', 'quality']
    expect(await settledCall()).toMatchObject({ charge: 20_000, hold: 20_000, losses })
  })
})

it('an image of xAI with the resolution of an override has the price of it', async () => {
  const model = 'grok-imagine-image'
  const own = { aspect_ratio: '3:2', resolution: '2k' }
  const paramOverride = JSON.stringify(own)
  await rig.addChannel(4, { type: 48, baseUrl: provider.url, models: [model], paramOverride })
  await rig.setOption('ModelPrice', { [model]: 0.04 })
  provider.answers.set(PATH, { body: images(1) })
  await generate({ model })
  expect(sent()).toEqual({ model, prompt: 'a cat', n: 1, ...own })
  expect(await settledCall()).toMatchObject({ charge: 40_000, hold: 40_000 })
})

describe('a name that is mapped to another model', () => {
  it('has the output limit of that model, so that the hold covers its images', async () => {
    const modelMapping = JSON.stringify({ [GPT]: 'gpt-image-2' })
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(4, { type: 1, baseUrl: provider.url, models: [GPT], modelMapping })
    const usage = { input_tokens: 10, output_tokens: 7_000, total_tokens: 7_010 }
    provider.answers.set(PATH, { body: { created: 1, data: [{ b64_json: 'QUJD' }], usage } })
    await generate({ model: GPT, quality: 'low', size: '1024x1024' })
    expect(sent().model).toBe('gpt-image-2')
    const { charge, hold } = await settledCall()
    expect(Number(hold)).toBeGreaterThanOrEqual(Number(charge))
  })
})

describe('Gemini’s images', () => {
  const NATIVE = `POST /v1beta/models/${GEMINI}:generateContent`
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 1_290,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  }
  const inlineData = { mimeType: 'image/png', data: 'QUJD' }

  it('are called by OpenAI’s images and charged by their tokens', async () => {
    const candidates = [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }]
    provider.answers.set(NATIVE, { body: { candidates, usageMetadata } })
    const { text } = await generate({ model: GEMINI })
    expect(JSON.parse(text)).toMatchObject({ data: [{ b64_json: 'QUJD' }] })
    expect(sent()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    })
    // (10 + 1 290 · 100) · 0.15
    expect(await settledCall()).toMatchObject({ charge: 19_352, usageSource: 'upstream' })
  })

  it.each(['/v1/images/generations', '/v1/chat/completions'])(
    'are refused by %s with a picture in a member that is not read',
    async (path) => {
      const request = { model: GEMINI, prompt: 'a hat', messages: [{ role: 'user', content: 'x' }] }
      const { status, text } = await post(path, {
        ...request,
        ref_image: 'https://a.example/1.png',
      })
      expect([status, JSON.parse(text).error.param], text).toEqual([400, 'ref_image'])
      expect(provider.requests).toEqual([])
    },
  )

  it('can’t be requested several at once', async () => {
    const { status, text } = await generate({ model: GEMINI, n: 2 })
    expect([status, JSON.parse(text).error.param]).toEqual([400, 'n'])
  })
})

describe('OpenAI’s client', () => {
  const client = () => new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })

  it('gets images', async () => {
    provider.answers.set(PATH, { body: images(1) })
    const { data } = await client().images.generate({ model: DALLE, prompt: 'a cat' })
    expect(data).toEqual(images(1).data)
  })

  it('gets a stream', async () => {
    provider.answers.set(PATH, { headers: SSE, pieces: [event(PARTIAL), event(COMPLETED)] })
    const types: string[] = []
    const stream = await client().images.generate({
      ...{ model: GPT, prompt: 'a cat', stream: true, partial_images: 1 },
    })
    for await (const { type } of stream) types.push(type)
    expect(types).toEqual([PARTIAL.type, COMPLETED.type])
  })

  it('finds which models have images', async () => {
    const response = await fetch(`${rig.url}/v1/models/${DALLE}`, {
      headers: { authorization: `Bearer sk-${KEY}` },
    })
    expect(await response.json()).toMatchObject({ supported_endpoint_types: ['image-generation'] })
  })
})

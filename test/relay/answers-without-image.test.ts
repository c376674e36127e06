import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { errorOf, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { type Scripted, scriptedProvider } from './support/scripted-provider.ts'

const DALLE = 'dall-e-3'
const GPT = 'gpt-image-1'
const PATH = 'POST /v1/images/generations'
const RESPONSES = 'POST /v1/responses'
const provider = startedForEach(scriptedProvider)
const second = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

/** A valid answer, and its price of $0.04 per image. */
const IMAGE: Scripted = { body: { created: 7, data: [{ b64_json: 'QUJD' }] } }
const CHARGE = 20_000
const INVALID_JSON = '{"created":7,"data":[{"b64_json":"QUJD"},]}'

beforeEach(async () => {
  const { append, addChannel, setOption } = rig
  await append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await addChannel(2, { type: 1, baseUrl: provider.url, models: [DALLE, GPT], priority: 9 })
  await setOption('ModelPrice', { [DALLE]: 0.04 })
  await setOption('ModelRatio', { [GPT]: 2.5 })
  await setOption('RetryTimes', '3')
})

async function post(path: string, fields: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })
  const { status, headers } = response
  return { status, headers, text: await response.text() }
}

const generate = (fields: object = {}) =>
  post('/v1/images/generations', { model: DALLE, prompt: 'a cat', ...fields })

const addSecondChannel = () => rig.addChannel(3, { baseUrl: second.url, models: [DALLE] })

describe.each([true, false])('an answer to a request for images, stream: %s', (stream) => {
  it.each([
    ['is invalid JSON', INVALID_JSON, 'upstream_format'],
    ['has no image', { created: 7, data: [] }, 'upstream_no_image'],
    ['has an object in place of the images', { data: {} }, 'upstream_no_image'],
    ['has texts in place of the images', { data: ['x'] }, 'upstream_no_image'],
    ['has an image without data', { data: [{ b64_json: '', url: '' }] }, 'upstream_no_image'],
  ])('that %s is an error and costs nothing', async (_name, body, code) => {
    const before = await rig.balance()
    provider.answers.set(PATH, { body, headers: { 'content-type': 'application/json' } })
    const answer = await generate({ stream })
    const status = code === 'upstream_no_image' ? 400 : 502
    expect([answer.status, errorOf(answer).code]).toEqual([status, code])
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallReleased', data: { errorCode: code } })
    expect(await rig.balance()).toBe(before)
  })

  it.each([
    ['is invalid JSON', INVALID_JSON],
    ['has no image', { data: [] }],
  ])('that %s lets the next channel make the image, which is charged once', async (_name, body) => {
    await addSecondChannel()
    provider.answers.set(PATH, { body, headers: { 'content-type': 'application/json' } })
    second.answers.set(PATH, IMAGE)
    const { status, text } = await generate({ stream })
    expect(status, text).toBe(200)
    expect(text).toContain('"b64_json":"QUJD"')
    const { type, data } = await onlyEnd(rig)
    expect(type).toBe('CallSettled')
    expect(data).toMatchObject({ charge: CHARGE, channelId: 3 })
    expect(data.attempts.map(({ channelId }) => channelId)).toEqual([2, 3])
  })

  it('that has no image but usage is an error, and is charged by its usage', async () => {
    const usage = { input_tokens: 40, output_tokens: 60, total_tokens: 100 }
    provider.answers.set(PATH, { body: { data: [], usage } })
    const answer = await generate({ model: GPT, stream })
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'upstream_no_image'])
    const { type, data } = await onlyEnd(rig)
    if (type !== 'CallSettled') throw new Error(type)
    expect(data).toMatchObject({ end: 'incomplete', attempts: [{ channelId: 2 }] })
    expect(Number(data.charge)).toBeGreaterThan(0)
  })
})

it('an image after an element that has none is the event of a stream', async () => {
  provider.answers.set(PATH, { body: { created: 7, data: [{}, { url: 'https://a.example/1' }] } })
  const { text } = await generate({ stream: true, response_format: 'url' })
  expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ url: 'https://a.example/1' })
  expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
})

it('answers without an image open no circuit, because the prompt may cause them', async () => {
  provider.answers.set(PATH, { body: { data: [] } })
  for (let call = 0; call < 30; call += 1) expect((await generate()).status).toBe(400)
  provider.answers.set(PATH, IMAGE)
  expect((await generate()).status).toBe(200)
})

it('a caller that has left pays nothing for an answer without an image', async () => {
  const before = await rig.balance()
  const { promise: until, resolve: answer } = Promise.withResolvers<void>()
  provider.answers.set(PATH, { body: { data: [] }, until })
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
  answer()
  await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
  expect((await onlyEnd(rig)).type).toBe('CallReleased')
  expect(await rig.balance()).toBe(before)
})

it('an answer in invalid JSON to a stream of a response costs nothing', async () => {
  const before = await rig.balance()
  const body = '{"id":"r","object":"response","output":[],"usage":{"input_tokens":9},}'
  provider.answers.set(RESPONSES, { body, headers: { 'content-type': 'application/json' } })
  const answer = await post('/v1/responses', { model: GPT, input: 'hi', stream: true })
  expect([answer.status, errorOf(answer).code]).toEqual([502, 'upstream_format'])
  expect((await onlyEnd(rig)).type).toBe('CallReleased')
  expect(await rig.balance()).toBe(before)
})

describe.each([true, false])('a prompt that Google blocks, stream: %s', (stream) => {
  const IMAGEN = 'imagen-4.0-generate-001'
  const GEMINI = 'gemini-2.5-flash-image'
  const usageMetadata = { promptTokenCount: 10, totalTokenCount: 10 }
  it.each([
    [IMAGEN, 'predict', { predictions: [{ raiFilteredReason: 'sensitive' }] }, 0],
    [GEMINI, 'generateContent', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 0],
    [GEMINI, 'generateContent', { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }, 0],
    [GEMINI, 'generateContent', { promptFeedback: { blockReason: 'OTHER' }, usageMetadata }, 25],
  ])('of %s is the caller’s error: %s %j', async (...[model, method, body, charge]) => {
    await rig.addChannel(4, { type: 24, baseUrl: provider.url, models: [model] })
    await rig.setOption('ModelRatio', { [model]: 2.5 })
    const before = await rig.balance()
    provider.answers.set(`POST /v1beta/models/${model}:${method}`, { body })
    const answer = await generate({ model, stream })
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'image_blocked'])
    expect(provider.requests).toHaveLength(1)
    await expect.poll(() => rig.balance()).toBe(before - BigInt(charge))
  })
})

import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const PATH = 'POST /api/v1/services/aigc/multimodal-generation/generation'
const EDITOR = 'wan2.6-image'
const MODELS = ['wan2.6-t2i', 'wan2.7-image-pro', 'qwen-image-plus', 'z-image-turbo']
const ALL = [...MODELS, EDITOR]
/** $0.03 per image. */
const CHARGE = 15_000
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 17, baseUrl: provider.url, models: ALL })
  await rig.setOption('ModelPrice', Object.fromEntries(ALL.map((model) => [model, 0.03])))
})

/**
 * DashScope's answer with `count` images. Its documentation of Wan 2.6 shows the members of an
 * image in both orders.
 */
const answerOf = (count: number) => ({
  output: {
    choices: Array.from({ length: count }, (_, n) => ({
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: [
          n === 0 ? { type: 'image', image: urlOf(n) } : { image: urlOf(n), type: 'image' },
        ],
      },
    })),
    finished: true,
  },
  usage: { image_count: count, size: '1280*1280', input_tokens: 0, output_tokens: 0 },
  request_id: 'r',
})
const urlOf = (n: number) => `https://images.example/${n}.png?Expires=1`

const HEADERS = { authorization: `Bearer sk-${KEY}` }
async function post(path: string, body: object) {
  const response = await fetch(`${rig.url}/v1/images/${path}`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}
const generate = (model: string, fields: object = {}) =>
  post('generations', { model, prompt: 'a cat', ...fields })
const sent = () => JSON.parse(provider.requests.at(-1)?.body ?? '')
const messageOf = (...content: object[]) => ({ messages: [{ role: 'user', content }] })

describe.each(MODELS)('images of %s', (model) => {
  it('are answered as OpenAI’s images, and each is billed', async () => {
    const count = model === 'z-image-turbo' ? 1 : 2
    provider.answers.set(PATH, { body: answerOf(count) })
    const before = await rig.balance()
    const { status, text } = await generate(model, { n: count, size: '1280x1280' })
    expect(status, text).toBe(200)
    const data = Array.from({ length: count }, (_, n) => ({ url: urlOf(n) }))
    expect(JSON.parse(text)).toEqual({ created: expect.any(Number), data })
    const number = model === 'z-image-turbo' ? {} : { n: count }
    expect(sent()).toEqual({
      model,
      input: messageOf({ text: 'a cat' }),
      parameters: { ...number, size: '1280*1280' },
    })
    expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    const charge = count * CHARGE
    expect((await onlyEnd(rig)).data).toMatchObject({ charge, hold: charge })
    expect(before - (await rig.balance())).toBe(BigInt(charge))
  })

  it('cost nothing if the provider refuses them, and the caller gets its words', async () => {
    const before = await rig.balance()
    const refused = { code: 'InvalidParameter', message: 'the size is unfit', request_id: 'r' }
    provider.answers.set(PATH, { status: 400, body: refused })
    const { status, text } = await generate(model)
    expect(status, text).toBe(400)
    expect(JSON.parse(text).error.message).toContain('the size is unfit')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
  })

  it('are listed with the endpoint of images alone', async () => {
    const response = await fetch(`${rig.url}/v1/models/${model}`, { headers: HEADERS })
    expect(await response.json()).toMatchObject({ supported_endpoint_types: ['image-generation'] })
  })
})

it('an image is the last event of a stream that a client requests', async () => {
  provider.answers.set(PATH, { body: answerOf(1) })
  const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
  const stream = await client.images.generate({
    ...{ model: 'wan2.6-t2i', prompt: 'a cat', stream: true, response_format: 'url' },
  })
  const events: object[] = []
  for await (const event of stream) events.push(event)
  const url = urlOf(0)
  expect(events).toEqual([
    { type: 'image_generation.completed', url, created_at: expect.any(Number) },
  ])
  expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
})

it('fewer images than requested are billed by their number', async () => {
  provider.answers.set(PATH, { body: answerOf(3) })
  expect((await generate('wan2.6-t2i', { n: 4 })).status).toBe(200)
  const expected = { charge: 3 * CHARGE, hold: 4 * CHARGE, calls: 3 }
  expect((await onlyEnd(rig)).data).toMatchObject(expected)
})

describe('an edit by a model that edits', () => {
  beforeEach(() => {
    provider.answers.set(PATH, { body: answerOf(1) })
  })

  it('sends the images of a JSON request, and is billed by the image', async () => {
    const images = [{ image_url: 'https://a.example/1.png' }]
    const { status, text } = await post('edits', { model: EDITOR, prompt: 'a hat', images })
    expect(status, text).toBe(200)
    expect(JSON.parse(text).data).toEqual([{ url: urlOf(0) }])
    expect(sent()).toEqual({
      model: EDITOR,
      input: messageOf({ image: 'https://a.example/1.png' }, { text: 'a hat' }),
      parameters: { n: 1 },
    })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, hold: CHARGE })
  })

  it('sends the files of OpenAI’s client as data, byte for byte', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    // The lengths are no multiples of three bytes, nor of the pieces in which files are read.
    const files = [200_001, 65_537].map((length, n) => Buffer.alloc(length, `picture ${n} `))
    const image = await Promise.all(
      files.map((bytes, n) => toFile(bytes, `${n}.png`, { type: 'image/png' })),
    )
    const { data } = await client.images.edit({ model: EDITOR, prompt: 'a hat', image, n: 2 })
    expect(data).toEqual([{ url: urlOf(0) }])
    const urls = files.map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`)
    const { input, parameters } = sent()
    expect(input).toEqual(messageOf(...urls.map((url) => ({ image: url })), { text: 'a hat' }))
    expect(parameters).toEqual({ n: 2 })
    const [request] = provider.requests
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request?.body ?? '')),
    })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, hold: 2 * CHARGE })
  })

  it('is refused if it has a mask, which the model would ignore', async () => {
    const mask = { image_url: 'https://a.example/m.png' }
    const images = [{ image_url: 'https://a.example/1.png' }]
    const body = { model: EDITOR, prompt: 'a hat', images, mask }
    const { status, text } = await post('edits', body)
    expect([status, JSON.parse(text).error.param]).toEqual([400, 'mask'])
    expect(provider.requests).toEqual([])
  })

  it('is not offered for a model that only generates', async () => {
    const images = [{ image_url: 'https://a.example/1.png' }]
    const { status } = await post('edits', { model: 'wan2.6-t2i', prompt: 'a hat', images })
    expect(status).toBe(404)
  })
})

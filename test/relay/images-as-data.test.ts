import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { type Scripted, scriptedProvider } from './support/scripted-provider.ts'

const KOLORS = 'Kwai-Kolors/Kolors'
const WAN = 'wan2.2-t2i-flash'
const FLUX = 'black-forest-labs/flux-schnell'
const provider = startedForEach(scriptedProvider)
/** A host of its own, whose address is private. */
const other = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

/** $0.02 per image. */
const CHARGE = 10_000
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const JPEG = Buffer.from('ffd8ffe000104a46', 'hex')
const MIB = 1024 * 1024
const GENERATIONS = '/v1/images/generations'

type Vendor = {
  readonly model: string
  readonly answers: (urls: readonly string[]) => Readonly<Record<string, object>>
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  SiliconFlow: {
    model: KOLORS,
    answers: (urls) => ({
      'POST /v1/images/generations': { images: urls.map((url) => ({ url })), seed: 1 },
    }),
  },
  'Ali’s Wan': {
    model: WAN,
    answers: (urls) => ({
      'POST /api/v1/services/aigc/text2image/image-synthesis': {
        output: { task_id: 't1', task_status: 'PENDING' },
      },
      'GET /api/v1/tasks/t1': {
        output: { task_status: 'SUCCEEDED', results: urls.map((url) => ({ url })) },
      },
    }),
  },
  Replicate: {
    model: FLUX,
    answers: (output) => ({
      [`POST /v1/models/${FLUX}/predictions`]: { id: 'p1', status: 'starting' },
      'GET /v1/predictions/p1': { id: 'p1', status: 'succeeded', output },
    }),
  },
}

beforeEach(async () => {
  const { append, addChannel, setOption } = rig
  await append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await addChannel(2, { type: 17, baseUrl: provider.url, models: [WAN] })
  await addChannel(3, { type: 56, baseUrl: provider.url, models: [FLUX] })
  await addChannel(4, { type: 40, baseUrl: provider.url, models: [KOLORS] })
  await setOption('ModelPrice', { [KOLORS]: 0.02, [WAN]: 0.02, [FLUX]: 0.02 })
})

async function generate(model: string, fields: object = {}, signal?: AbortSignal) {
  const response = await fetch(`${rig.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: 'a cat', response_format: 'b64_json', ...fields }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return { data: JSON.parse(text).data, loss: response.headers.get('x-conversion-loss') }
}

const picture = (bytes: Buffer, type = 'image/png'): Scripted => ({
  headers: { 'content-type': type },
  pieces: [bytes],
})

const requestsTo = (path: string) => provider.requests.filter((request) => request.path === path)

describe.each(Object.entries(VENDORS))('images of %s', (_name, { model, answers }) => {
  const script = (urls: readonly string[]): void => {
    for (const [route, body] of Object.entries(answers(urls))) provider.answers.set(route, { body })
  }
  const expectAddresses = async (urls: readonly string[]) => {
    const { data, loss } = await generate(model, { n: urls.length })
    expect(data).toEqual(urls.map((url) => ({ url })))
    expect(loss).toBe('response_format')
    const charge = urls.length * CHARGE
    expect((await onlyEnd(rig)).data).toMatchObject({ charge, losses: ['response_format'] })
  }

  it('are answered as data if the caller requests data, and billed as usual', async () => {
    provider.answers.set('GET /a.png', picture(PNG))
    provider.answers.set('GET /b.jpg', picture(JPEG, 'application/octet-stream'))
    script([`${provider.url}/a.png?x=1`, `${provider.url}/b.jpg`])
    const { data, loss } = await generate(model, { n: 2 })
    expect(data).toEqual([
      { b64_json: PNG.toString('base64') },
      { b64_json: JPEG.toString('base64') },
    ])
    expect(loss).toBeNull()
    const [{ headers } = {}] = requestsTo('/a.png?x=1')
    expect(headers).not.toHaveProperty('authorization')
    const end = await onlyEnd(rig)
    expect(end.data).toMatchObject({ charge: 2 * CHARGE, end: 'done' })
    expect(end.data).not.toHaveProperty('losses')
  })

  it('are data in the event of a stream, which OpenAI’s clients expect', async () => {
    provider.answers.set('GET /a.png', picture(PNG))
    script([`${provider.url}/a.png`])
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const stream = await client.images.generate({ model, prompt: 'a cat', stream: true })
    const events: object[] = []
    for await (const event of stream) events.push(event)
    expect(events).toEqual([
      {
        type: 'image_generation.completed',
        b64_json: PNG.toString('base64'),
        created_at: expect.any(Number),
      },
    ])
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('are answered as addresses if the caller requests no data', async () => {
    script([`${provider.url}/a.png`])
    const { data, loss } = await generate(model, { response_format: 'url' })
    expect(data).toEqual([{ url: `${provider.url}/a.png` }])
    expect(loss).toBeNull()
    expect(requestsTo('/a.png')).toEqual([])
  })

  it('name the members of the request that the provider does not have', async () => {
    script([`${provider.url}/a.png`])
    const fields = { response_format: 'url', quality: 'high', style: 'vivid', user: 'u' }
    const { loss } = await generate(model, { ...fields, background: 'auto', seed: 1 })
    expect(loss).toBe('quality, style, user')
    expect((await onlyEnd(rig)).data).toMatchObject({ losses: ['quality', 'style', 'user'] })
  })

  it('stay addresses if they are too large', async () => {
    provider.answers.set('GET /a.png', picture(Buffer.alloc(24 * MIB + 1)))
    script([`${provider.url}/a.png`])
    await expectAddresses([`${provider.url}/a.png`])
  })

  it('stay addresses if the host of one of them is not allowed', async () => {
    provider.answers.set('GET /a.png', picture(PNG))
    other.answers.set('GET /b.png', picture(PNG))
    const urls = [`${provider.url}/a.png`, `${other.url}/b.png`]
    script(urls)
    await expectAddresses(urls)
    expect(other.requests).toEqual([])
  })
})

describe('a stream of an image at a provider that answers it as a whole', () => {
  const streamed = async (model: string, fields: { quality?: 'high' } = {}) => {
    await rig.setOption('ModelPrice', { [model]: 0.02 })
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const stream = await client.images.generate({ model, prompt: 'a cat', ...fields, stream: true })
    const events: object[] = []
    for await (const event of stream) events.push(event)
    return events
  }
  const type = 'image_generation.completed'
  const b64_json = PNG.toString('base64')

  it('has the data that xAI is asked for', async () => {
    const model = 'grok-imagine-image'
    await rig.addChannel(5, { type: 48, baseUrl: provider.url, models: [model] })
    provider.answers.set(`POST ${GENERATIONS}`, { body: { data: [{ b64_json }], created: 7 } })
    expect(await streamed(model)).toEqual([{ type, b64_json, created_at: 7 }])
    const [{ body = '' } = {}] = requestsTo(GENERATIONS)
    expect(JSON.parse(body)).toMatchObject({ response_format: 'b64_json' })
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it.each([
    [26, 'cogview-4', '/api/paas/v4/images/generations'],
    [1, 'dall-e-3', GENERATIONS],
    [8, 'of-a-compatible-provider', GENERATIONS],
    [45, 'doubao-seedream-4-5', '/api/v3/images/generations'],
  ])('has the data at the address that the type %i returns', async (channel, model, path) => {
    await rig.addChannel(5, { type: channel, baseUrl: provider.url, models: [model] })
    provider.answers.set('GET /a.png', picture(PNG))
    const image = { url: `${provider.url}/a.png`, revised_prompt: 'a small cat' }
    const usage = { total_tokens: 9, input_tokens: 4, output_tokens: 5 }
    provider.answers.set(`POST ${path}`, { body: { created: 7, data: [image], usage } })
    const { revised_prompt } = image
    expect(await streamed(model)).toEqual([
      { type, b64_json, created_at: 7, revised_prompt, usage },
    ])
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
  })

  it('is requested from Ark as a whole, because its events are not those of OpenAI', async () => {
    const model = 'doubao-seedream-4-5'
    const path = '/api/v3/images/generations'
    await rig.addChannel(5, { type: 45, baseUrl: provider.url, models: [model] })
    provider.answers.set(`POST ${path}`, { body: { data: [{ b64_json }], created: 7 } })
    expect(await streamed(model)).toEqual([{ type, b64_json, created_at: 7 }])
    const [{ body = '' } = {}] = requestsTo(path)
    expect(JSON.parse(body)).toEqual({ model, prompt: 'a cat' })
    expect((await onlyEnd(rig)).data).not.toHaveProperty('losses')
  })

  it('has data although members of the request are not sent', async () => {
    const model = 'doubao-seedream-4-5'
    await rig.addChannel(5, { type: 45, baseUrl: provider.url, models: [model] })
    provider.answers.set('GET /a.png', picture(PNG))
    const body = { data: [{ url: `${provider.url}/a.png` }], created: 7 }
    provider.answers.set('POST /api/v3/images/generations', { body })
    expect(await streamed(model, { quality: 'high' })).toEqual([{ type, b64_json, created_at: 7 }])
  })

  it('has the data of an address that contains it', async () => {
    const model = 'of-a-compatible-provider'
    await rig.addChannel(5, { type: 8, baseUrl: provider.url, models: [model] })
    const data = [{ url: `data:image/png;base64,${b64_json}` }]
    provider.answers.set(`POST ${GENERATIONS}`, { body: { created: 7, data } })
    expect(await streamed(model)).toEqual([{ type, b64_json, created_at: 7 }])
  })
})

it.each([
  ['{"data":{"url":"https://images.example/a.png"}}'],
  ['{"data":[{"url":"https://images.example/a.png"},{"text":"b"}]}'],
])('an answer whose images can’t be read as a list is passed on as it is: %s', async (body) => {
  const model = 'of-a-compatible-provider'
  await rig.addChannel(5, { type: 8, baseUrl: provider.url, models: [model] })
  await rig.setOption('ModelPrice', { [model]: 0.02 })
  provider.answers.set(`POST ${GENERATIONS}`, { body })
  const { data, loss } = await generate(model)
  expect({ data, loss }).toEqual({ data: JSON.parse(body).data, loss: 'response_format' })
  expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'done' })
})

describe('an image that the caller requests as data', () => {
  const url = () => `${provider.url}/a.png`
  beforeEach(() => {
    const routes = Object.entries(VENDORS.SiliconFlow?.answers([url()]) ?? {})
    for (const [route, body] of routes) provider.answers.set(route, { body })
  })

  it.each<[string, Scripted]>([
    ['is redirected', { status: 302, headers: { location: '/b.png' } }],
    ['is not found', { status: 404, headers: { 'content-type': 'image/png' } }],
    ['is a page', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['is empty', { headers: { 'content-type': 'image/png' }, body: '' }],
    ['is compressed', { ...picture(PNG), headers: { 'content-encoding': 'gzip' } }],
  ])('stays an address if it %s', async (_name, answer) => {
    provider.answers.set('GET /a.png', answer)
    provider.answers.set('GET /b.png', picture(PNG))
    expect(await generate(KOLORS)).toEqual({ data: [{ url: url() }], loss: 'response_format' })
    expect(requestsTo('/b.png')).toEqual([])
  })

  it('is charged and no longer awaited once the caller has left', async () => {
    provider.answers.set('GET /a.png', { hangs: true })
    const leaving = new AbortController()
    const answered = generate(KOLORS, {}, leaving.signal).catch(() => {})
    await expect.poll(() => requestsTo('/a.png').length).toBe(1)
    leaving.abort()
    await answered
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, end: 'client-gone' })
  })
})

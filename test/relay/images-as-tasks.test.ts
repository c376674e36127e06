import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const WAN = 'wan2.2-t2i-flash'
const WAN_EDITOR = 'wan2.5-i2i-preview'
const FLUX = 'black-forest-labs/flux-schnell'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const hurriedRig = startedForEach(() => relayRig({ deadlines: { plainAnswerStartMs: 1_000 } }))

/** $0.02 per image. */
const CHARGE = 10_000
const URLS = ['https://images.example/a.png', 'https://images.example/b.png']

type Vendor = {
  readonly model: string
  readonly submit: string
  readonly query: string
  readonly cancel: string
  readonly accepted: object
  readonly open: object
  readonly done: (urls: readonly string[]) => object
  readonly failed: object
  /** The body that the vendor gets for two square images. */
  readonly sent: object
  readonly refused: { readonly status: number; readonly body: object }
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  'Ali’s Wan': {
    model: WAN,
    submit: 'POST /api/v1/services/aigc/text2image/image-synthesis',
    query: 'GET /api/v1/tasks/t1',
    cancel: 'POST /api/v1/tasks/t1/cancel',
    accepted: { output: { task_id: 't1', task_status: 'PENDING' }, request_id: 'r' },
    open: { output: { task_id: 't1', task_status: 'RUNNING' }, request_id: 'r' },
    done: (urls) => ({
      output: {
        ...{ task_id: 't1', task_status: 'SUCCEEDED' },
        results: urls.map((url) => ({ orig_prompt: 'a "url": "cat"', url })),
      },
      usage: { image_count: urls.length },
    }),
    failed: {
      output: {
        task_status: 'FAILED',
        code: 'DataInspectionFailed',
        message: 'the prompt is unfit',
      },
    },
    sent: { model: WAN, input: { prompt: 'a cat' }, parameters: { n: 2, size: '1024*1024' } },
    refused: { status: 400, body: { code: 'InvalidParameter', message: 'the size is unfit' } },
  },
  Replicate: {
    model: FLUX,
    submit: `POST /v1/models/${FLUX}/predictions`,
    query: 'GET /v1/predictions/p1',
    cancel: 'POST /v1/predictions/p1/cancel',
    accepted: { id: 'p1', status: 'starting', input: { prompt: 'a cat' }, urls: {} },
    open: { id: 'p1', status: 'processing', output: null },
    done: (output) => ({ id: 'p1', status: 'succeeded', input: { prompt: 'a "output"' }, output }),
    failed: { id: 'p1', status: 'failed', error: 'the prompt is unfit', output: null },
    sent: { input: { prompt: 'a cat', aspect_ratio: '1:1', num_outputs: 2 } },
    refused: { status: 422, body: { title: 'Input', detail: 'the size is unfit', status: 422 } },
  },
}

beforeEach(async () => {
  for (const { append, addChannel, setOption } of [rig, hurriedRig]) {
    await append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await addChannel(2, { type: 17, baseUrl: provider.url, models: [WAN, WAN_EDITOR] })
    await addChannel(3, { type: 56, baseUrl: provider.url, models: [FLUX] })
    await setOption('ModelPrice', { [WAN]: 0.02, [WAN_EDITOR]: 0.02, [FLUX]: 0.02 })
  }
})

type Sending = { readonly signal?: AbortSignal; readonly url?: string }

const HEADERS = { authorization: `Bearer sk-${KEY}` }
const generate = (model: string, fields: object = {}, sending: Sending = {}) =>
  post('generations', { model, prompt: 'a cat', ...fields }, sending)

async function post(path: string, body: object, { signal, url = rig.url }: Sending = {}) {
  const response = await fetch(`${url}/v1/images/${path}`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  return { status: response.status, text: await response.text() }
}

const requestsTo = (route: string) =>
  provider.requests.filter(({ method, path }) => `${method} ${path}` === route)

describe.each(Object.entries(VENDORS))('images of %s', (_name, vendor) => {
  const { model, submit, query, cancel } = vendor
  beforeEach(() => {
    provider.answers.set(submit, { status: 201, body: vendor.accepted })
    provider.answers.set(query, { body: vendor.open })
  })

  it('are answered as OpenAI’s images once the task has ended, and billed each', async () => {
    const before = await rig.balance()
    const answered = generate(model, { n: 2, size: '1024x1024' })
    await expect.poll(() => requestsTo(query).length).toBeGreaterThan(0)
    provider.answers.set(query, { body: vendor.done(URLS) })
    const { status, text } = await answered
    expect(status, text).toBe(200)
    expect(JSON.parse(text)).toEqual({
      created: expect.any(Number),
      data: URLS.map((url) => ({ url })),
    })
    const [sent] = requestsTo(submit)
    expect(JSON.parse(sent?.body ?? '')).toEqual(vendor.sent)
    expect(sent?.headers['x-dashscope-async']).toBe(model === WAN ? 'enable' : undefined)
    for (const { headers } of provider.requests) {
      expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    }
    const hold = 2 * CHARGE
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: hold, hold, end: 'done' })
    expect(before - (await rig.balance())).toBe(BigInt(hold))
    expect(requestsTo(cancel)).toEqual([])
  })

  it('are charged for those that are delivered', async () => {
    provider.answers.set(query, { body: vendor.done(URLS.slice(0, 1)) })
    expect((await generate(model, { n: 2 })).status).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE, hold: 2 * CHARGE })
  })

  it('cost nothing if the task fails, whose words the caller gets', async () => {
    const before = await rig.balance()
    provider.answers.set(query, { body: vendor.failed })
    const { status, text } = await generate(model)
    expect(status, text).toBe(model === WAN ? 400 : 502)
    expect(JSON.parse(text).error.message).toContain('the prompt is unfit')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
  })

  it('cost nothing if the request is refused', async () => {
    provider.answers.set(submit, vendor.refused)
    const { status, text } = await generate(model)
    expect(status).toBe(vendor.refused.status)
    expect(JSON.parse(text).error.message).toContain('the size is unfit')
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(requestsTo(query)).toEqual([])
  })

  it('are waited for and charged after the caller has left', async () => {
    const leaving = new AbortController()
    const answered = generate(model, {}, { signal: leaving.signal }).catch(() => {})
    await expect.poll(() => requestsTo(query).length).toBeGreaterThan(0)
    leaving.abort()
    await answered
    provider.answers.set(query, { body: vendor.done(URLS.slice(0, 1)) })
    await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
    expect(requestsTo(cancel)).toEqual([])
  })

  it('are cancelled and cost nothing if they take too long', async () => {
    const { status, text } = await generate(model, {}, { url: hurriedRig.url })
    expect(status, text).toBe(504)
    await expect.poll(() => requestsTo(cancel).length).toBe(1)
    expect(requestsTo(submit)).toHaveLength(1)
    expect((await onlyEnd(hurriedRig)).type).toBe('CallReleased')
  })

  it('are fetched again if the provider fails to answer', async () => {
    provider.answers.set(query, { status: 503, body: {} })
    const answered = generate(model)
    await expect.poll(() => requestsTo(query).length).toBeGreaterThan(1)
    provider.answers.set(query, { body: vendor.done(URLS.slice(0, 1)) })
    expect((await answered).status).toBe(200)
    expect(requestsTo(submit)).toHaveLength(1)
  })

  it('are refused if the provider can’t make them as requested', async () => {
    for (const [fields, param] of [
      [{ n: 5 }, 'n'],
      [{ n: 0 }, 'n'],
      // Without these pictures, the provider would draw another image.
      [{ reference_image: 'https://a.example/1.png' }, 'reference_image'],
      [{ subject: [{ type: 'character', image_file: [URLS[0]] }] }, 'subject'],
      [{ other: 'data:image/png;base64,iVBORw0KGgo=' }, 'other'],
      [{ images: [{ image_url: URLS[0] }] }, 'images'],
      [{ mask: { file_id: 'file-1' } }, 'mask'],
      // A member that is too long to be searched may be a picture.
      [{ other: 'x'.repeat(4_200_000) }, 'other'],
    ] as const) {
      const { status, text } = await generate(model, fields, {
        signal: AbortSignal.timeout(20_000),
      })
      expect(status, text).toBe(400)
      expect(JSON.parse(text).error.param).toBe(param)
    }
    expect(provider.requests).toEqual([])
  })
})

describe('images of Ali’s Wan', () => {
  const { submit, query, accepted, done } = VENDORS['Ali’s Wan'] as Vendor

  it('are waited for while DashScope does not know their task yet', async () => {
    provider.answers.set(submit, { body: accepted })
    const next = { body: done(URLS.slice(0, 1)) }
    provider.answers.set(query, { body: { output: { task_status: 'UNKNOWN' } }, next })
    const { status, text } = await generate(WAN)
    expect(status, text).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })

  it('are made at another channel if the account of the first is in arrears', async () => {
    await rig.addChannel(4, { type: 17, baseUrl: provider.url, models: [WAN] })
    await rig.setOption('RetryTimes', '1')
    const arrears = { status: 400, body: { code: 'Arrearage', message: 'the planted account' } }
    provider.answers.set(submit, { ...arrears, next: { body: accepted } })
    provider.answers.set(query, { body: done(URLS.slice(0, 1)) })
    const { status, text } = await generate(WAN)
    expect(status, text).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ attempts: [{ status: 400 }, {}] })
    provider.answers.set(submit, arrears)
    const refused = await generate(WAN)
    expect(JSON.parse(refused.text).error.code).toBe('upstream_account')
    expect(refused.text).not.toContain('planted')
  })
})

describe('edits of images by Wan 2.5', () => {
  const { query, accepted, done } = VENDORS['Ali’s Wan'] as Vendor
  const submit = 'POST /api/v1/services/aigc/image2image/image-synthesis'
  const PICTURE = 'https://a.example/1.png'
  const sent = () => JSON.parse(requestsTo(submit).at(-1)?.body ?? '')

  beforeEach(() => {
    provider.answers.set(submit, { body: accepted })
    provider.answers.set(query, { body: done(URLS) })
  })

  it.each([
    ['edits', { images: [{ image_url: PICTURE }] }],
    ['generations', { image: PICTURE }],
  ])('are tasks with the images of a request to %s, and each is billed', async (path, images) => {
    const request = { model: WAN_EDITOR, prompt: 'a hat', n: 2, size: '1280x1280', seed: 7 }
    const before = await rig.balance()
    const { status, text } = await post(path, { ...request, ...images })
    expect(status, text).toBe(200)
    expect(JSON.parse(text).data).toEqual(URLS.map((url) => ({ url })))
    expect(sent()).toEqual({
      model: WAN_EDITOR,
      input: { prompt: 'a hat', images: [PICTURE] },
      parameters: { n: 2, size: '1280*1280', seed: 7 },
    })
    expect(requestsTo(submit)[0]?.headers['x-dashscope-async']).toBe('enable')
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: 2 * CHARGE, hold: 2 * CHARGE })
    expect(before - (await rig.balance())).toBe(BigInt(2 * CHARGE))
  })

  it('send the files of OpenAI’s client as data, and poll without their length', async () => {
    const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
    const files = [200_001, 65_537].map((length, n) => Buffer.alloc(length, `picture ${n} `))
    const image = await Promise.all(
      files.map((bytes, n) => toFile(bytes, `${n}.png`, { type: 'image/png' })),
    )
    provider.answers.set(query, { body: done(URLS.slice(0, 1)) })
    const { data } = await client.images.edit({ model: WAN_EDITOR, prompt: 'a hat', image })
    expect(data).toEqual([{ url: URLS[0] }])
    const images = files.map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`)
    expect(sent().input).toEqual({ prompt: 'a hat', images })
    const [request] = requestsTo(submit)
    const length = String(Buffer.byteLength(request?.body ?? ''))
    expect(request?.headers).toMatchObject({ 'content-length': length })
    expect(requestsTo(query)[0]?.headers).not.toHaveProperty('content-length')
    expect((await onlyEnd(rig)).data).toMatchObject({ charge: CHARGE })
  })

  it('are refused with a mask, which the model would ignore, and above four images', async () => {
    const request = { model: WAN_EDITOR, prompt: 'a hat', images: [{ image_url: PICTURE }] }
    for (const [fields, param] of [
      [{ mask: { image_url: PICTURE } }, 'mask'],
      [{ n: 5 }, 'n'],
    ] as const) {
      const { status, text } = await post('edits', { ...request, ...fields })
      expect([status, JSON.parse(text).error.param], text).toEqual([400, param])
    }
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['edits', { images: [{ image_url: PICTURE }] }],
    ['generations', { image: PICTURE }],
  ])(
    'are refused with another picture in a member of %s that is not read',
    async (path, images) => {
      const request = { model: WAN_EDITOR, prompt: 'a hat', ...images }
      const { status, text } = await post(path, { ...request, look: { reference: PICTURE } })
      expect([status, JSON.parse(text).error.param], text).toEqual([400, 'look'])
      expect(provider.requests).toEqual([])
      expect((await post(path, { ...request, callback_url: PICTURE, steps: 20 })).status).toBe(200)
    },
  )

  it('are listed with the endpoint of images alone', async () => {
    const response = await fetch(`${rig.url}/v1/models/${WAN_EDITOR}`, { headers: HEADERS })
    expect(await response.json()).toMatchObject({ supported_endpoint_types: ['image-generation'] })
  })
})

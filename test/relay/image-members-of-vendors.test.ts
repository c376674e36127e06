import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_IMAGES } from '#relay/dialects/openai-images/image-formats.ts'
import { IMAGE_ENDPOINTS } from '#relay/providers/profiles/image-endpoints.ts'
import { recomputedCharge } from '#test/domain/pricing/independent-charge.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const PREDICTIONS = '/v1/models/black-forest-labs/flux-pro/predictions'
const URL = 'https://images.example/a.png'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(() =>
  rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } }),
)

/** Generates an image with a channel of this type. An image of the usual size costs 20 000. */
async function generate(type: number, model: string, members: object) {
  await rig.addChannel(2, { type, baseUrl: provider.url, models: [model] })
  await rig.setOption('ModelPrice', { [model]: 0.04 })
  const data = [{ url: URL }]
  provider.answers.set('*', { body: { created: 1, data, images: data } })
  const response = await fetch(`${rig.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: 'a cat', ...members }),
  })
  const text = await response.text()
  const [request] = provider.requests
  const sent = JSON.parse(request?.body ?? '{}') as Record<string, unknown>
  return { status: response.status, text, sent, dropped: response.headers.get('x-dropped-members') }
}

async function bill() {
  const { type, data } = await onlyEnd(rig)
  if (type !== 'CallSettled') throw new Error(type)
  expect(BigInt(data.charge)).toBe(recomputedCharge(data.price, data.usage, data.calls))
  return [data.charge, data.hold]
}

const LONG = { prompt: 'a cat '.repeat(1_000) }
const XAI = 'grok-imagine-image'
const KOLORS = 'Kwai-Kolors/Kolors'

describe('the members of a vendor’s own API', () => {
  it.each<[string, number, string, object, object, number]>([
    ['xAI', 48, XAI, { aspect_ratio: '16:9', resolution: '2k' }, {}, 40_000],
    ['xAI', 48, XAI, { ...LONG, resolution: '2k' }, {}, 40_000],
    ['xAI', 48, XAI, { aspect_ratio: '9:19.5', resolution: '1k' }, {}, 20_000],
    ['SiliconFlow', 40, KOLORS, { image_size: '2048x2048', num_inference_steps: 30 }, {}, 40_000],
    ['SiliconFlow', 40, KOLORS, { ...LONG, image_size: '2048x2048' }, {}, 40_000],
    ['SiliconFlow', 40, KOLORS, { image_size: '512x512' }, { size: '2048x2048' }, 9_000],
    ['Zhipu', 26, 'cogview-4', { watermark_enabled: false, user_id: 'user-12' }, {}, 20_000],
    ['Zhipu', 26, 'cogview-3-flash', { watermark_enabled: true }, {}, 20_000],
    ['Ark', 45, 'doubao-seedream-4-0', { sequential_image_generation: 'disabled' }, {}, 20_000],
  ])('of %s are sent, and the image has the price of its size: %d %s %j', async (...row) => {
    const [, type, model, own, others, price] = row
    const { status, text, sent, dropped } = await generate(type, model, { ...others, ...own })
    expect([status, dropped], text).toEqual([200, null])
    expect(sent).toMatchObject(own)
    expect(await bill()).toEqual([price, price])
  })

  it('of Replicate are sent', async () => {
    provider.answers.set(`POST ${PREDICTIONS}`, { body: { id: 'p1', status: 'starting' } })
    provider.answers.set('GET /v1/predictions/p1', { body: { status: 'succeeded', output: [URL] } })
    const model = 'black-forest-labs/flux-pro'
    const { dropped, sent } = await generate(56, model, { aspect_ratio: '21:9' })
    expect([dropped, sent]).toMatchObject([null, { input: { aspect_ratio: '21:9' } }])
    expect(await bill()).toEqual([20_000, 20_000])
  })

  it.each<[number, string, object]>([
    [48, XAI, { resolution: ['2k'], image_size: '2048x2048', batch_size: 4 }],
    [40, KOLORS, { image_size: { width: 2_048 }, batch_size: 4, resolution: '2k' }],
    [40, KOLORS, { image_size: 'x y '.repeat(99), num_inference_steps: '9' }],
    [45, 'doubao-seedream-4-0', { sequential_image_generation: 'auto' }],
    [45, 'doubao-seedream-4-0', { sequential_image_generation: ['disabled'], image_size: '4K' }],
    [26, 'cogview-4', { sequential_image_generation: 'disabled', watermark_enabled: {} }],
    [1, 'dall-e-2', { aspect_ratio: '16:9', resolution: '2k', image_size: '4K' }],
    [8, 'any-image', { aspect_ratio: '16:9', resolution: '2k', image_size: '4K' }],
  ])('are dropped at other channels and with other values: %d %s %j', async (...row) => {
    const [type, model, members] = row
    const { status, text, sent, dropped } = await generate(type, model, members)
    expect([status, dropped?.split(/, */)], text).toEqual([200, Object.keys(members)])
    expect(JSON.stringify(sent)).not.toMatch(/2k|4K|2048|x y|auto|\[|watermark|"9"|size":4/)
    expect(await bill()).toEqual([20_000, 20_000])
  })

  it.each<[number, string, object]>([
    [48, XAI, { Resolution: '2k' }],
    [40, KOLORS, { Image_Size: '2048x2048' }],
  ])('are dropped under a similar name: %d %s %j', async (type, model, members) => {
    const { sent } = await generate(type, model, members)
    expect(JSON.stringify(sent)).not.toMatch(/2k|2048/)
    expect(await bill()).toEqual([20_000, 20_000])
  })
})

/** Values that endpoints accept (see `CallEndpoint.accepts`). */
const VALUES = ['16:9', '2k', '2048x2048', 'disabled', true, 30]
const ADAPTED = [...IMAGE_ENDPOINTS].flatMap(([type, endpoints]) =>
  endpoints.flatMap(({ adapter, accepts }) =>
    adapter === undefined ? [] : [...(accepts ?? [])].map((rule) => ({ type, adapter, rule })),
  ),
)

describe('the hold of a long request for an image', () => {
  it.each(ADAPTED)('covers the size by a member of type $type: $rule.0', ({ adapter, rule }) => {
    const [name, pattern] = rule
    for (const value of VALUES.filter((one) => pattern.test(JSON.stringify(one)))) {
      for (const model of ['image-01', XAI, KOLORS, 'a/flux-pro', 'm']) {
        const members = { model, size: '512x512', n: 2, [name]: value, ...LONG }
        const request = OPENAI_IMAGES.readRequest(Buffer.from(JSON.stringify(members)), null)
        if (isRelayError(request)) throw new Error(request.code)
        const { body } = OPENAI_IMAGES.outlineOf(request)
        const ofOutline = adapter.sentImageOf(JSON.parse(body.toString('utf8')), model)
        expect(ofOutline, `${model} ${value}`).toEqual(adapter.sentImageOf(members as never, model))
      }
    }
  })
})

import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const DALLE = 'dall-e-2'
const GPT = 'gpt-image-1'
const EDITS = 'POST /v1/images/edits'
const VARIATIONS = 'POST /v1/images/variations'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  const modelMapping = JSON.stringify({ [GPT]: 'gpt-image-mapped' })
  const terms = { type: 1, baseUrl: provider.url, models: [DALLE, GPT], modelMapping }
  await rig.addChannel(2, terms)
  await rig.setOption('ModelPrice', { [DALLE]: 0.02 })
  await rig.setOption('ModelRatio', { [GPT]: 2.5 })
  await rig.setOption('ImageRatio', { [GPT]: 2 })
  await rig.setOption('ImageCompletionRatio', { [GPT]: 8 })
  provider.answers.set(EDITS, { body: images(1) })
  provider.answers.set(VARIATIONS, { body: images(1) })
})

const images = (count: number) => ({
  created: 1,
  data: Array.from({ length: count }, () => ({ url: 'https://images.example/a.png' })),
})
const picture = (bytes = 5) => new File(['x'.repeat(bytes)], 'cat.png', { type: 'image/png' })

type Field = readonly [string, string | File]
function formOf(fields: readonly Field[]): FormData {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  return form
}

const post = async (path: string, fields: readonly Field[]) => {
  const headers = { authorization: `Bearer sk-${KEY}` }
  const body = formOf(fields)
  const response = await fetch(`${rig.url}/v1/images/${path}`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}
const EDIT: readonly Field[] = [
  ['image', picture()],
  ['prompt', 'a hat'],
  ['model', DALLE],
]
const sent = () => provider.requests.at(-1)?.body ?? ''

async function settledCall() {
  const { type, data } = await onlyEnd(rig)
  if (type !== 'CallSettled') throw new Error(type)
  return data
}

describe('an edit whose images are files', () => {
  it('is sent as a form, and charged by fields that follow its files', async () => {
    provider.answers.set(EDITS, { body: images(2) })
    const { status, text } = await post('edits', [
      ...EDIT,
      ['mask', picture(3)],
      ['size', '256x256'],
      ['n', '2'],
    ])
    expect([status, text]).toEqual([200, JSON.stringify(images(2))])
    expect(provider.requests[0]?.headers['content-type']).toMatch(/^multipart\/form-data/)
    expect(sent()).toMatch(
      /name="image"; filename="cat.png"\r\nContent-Type: image\/png\r\n\r\nxxxxx\r\n/,
    )
    expect(sent()).toMatch(/name="n"\r\n\r\n2\r\n/)
    // $0.02 for a square image; 256² costs 0.4 of it.
    expect(await settledCall()).toMatchObject({ charge: 8_000, hold: 8_000, usage: { images: 2 } })
  })

  it('may have several images and a model with another name at the provider', async () => {
    const usage = { input_tokens: 1_000, output_tokens: 272, total_tokens: 1_272 }
    provider.answers.set(EDITS, { body: { created: 1, data: [{ b64_json: 'QUJD' }], usage } })
    const { status } = await post('edits', [
      ...[picture(), picture(7)].map((file) => ['image[]', file] as const),
      ...[['prompt', 'a hat'] as const, ['model', GPT] as const, ['quality', 'low'] as const],
    ])
    expect(status).toBe(200)
    expect(sent().match(/name="image\[\]"/g)).toHaveLength(2)
    expect(sent()).toMatch(/name="model"\r\n\r\ngpt-image-mapped\r\n/)
    // (1 000 + 272 · 8) · 2.5
    expect(await settledCall()).toMatchObject({ charge: 7_940, formats: ['image-edits'] })
  })

  it('streams', async () => {
    const usage = { input_tokens: 10, output_tokens: 272, total_tokens: 282 }
    const event = { type: 'image_edit.completed', b64_json: 'QUJD', usage }
    const pieces = [Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)]
    provider.answers.set(EDITS, { headers: { 'content-type': 'text/event-stream' }, pieces })
    const { text } = await post('edits', [
      ...[['image', picture()] as const, ['prompt', 'a hat'] as const],
      ...[['model', GPT] as const, ['stream', 'true'] as const],
    ])
    expect(text).toBe(Buffer.concat(pieces).toString())
    expect(await settledCall()).toMatchObject({ usage: { images: 1 } })
  })

  it.each([
    [
      [
        ['prompt', 'a hat'],
        ['model', DALLE],
      ],
      'image',
    ],
    [[...EDIT, ['image[]', picture()]], 'image'],
    [[...EDIT.slice(1), ['image', 'https://images.example/a.png']], 'image'],
    [[...EDIT.slice(1), ['image', picture(0)]], 'image'],
    [[...EDIT, ['mask', picture(0)]], 'mask'],
    [[...EDIT, ['n', '11']], 'n'],
    [[...EDIT, ['n[]', '9']], 'n[]'],
    [[...EDIT, ['N', '9']], 'N'],
    [[...EDIT, ['n', '2'], ['n', '1']], 'n'],
    [[...EDIT, ['quality', picture()]], 'quality'],
    [[...EDIT, ['response_format', 'png']], 'response_format'],
    [[EDIT[0], EDIT[2]], 'prompt'],
  ] as [Field[], string][])(
    'is refused with an error that names the field: %#',
    async (fields, param) => {
      const { status, text } = await post('edits', fields)
      expect([status, JSON.parse(text).error.param], text).toEqual([400, param])
      expect(provider.requests).toHaveLength(0)
    },
  )

  it('loses fields that could multiply what is generated', async () => {
    await post('edits', [...EDIT, ['batch_size', '9'], ['num_images', '9']])
    expect(sent()).not.toMatch(/batch_size|num_images/)
    expect(await settledCall()).toMatchObject({ dropped: ['batch_size', 'num_images'] })
  })

  it.each([
    ['file_id', 'file-1'],
    ['reference', '["https://a.example/1.png"]'],
  ])('is refused with a picture in the field %s, which is not read', async (name, value) => {
    const { status, text } = await post('edits', [...EDIT, [name, value]])
    expect([status, JSON.parse(text).error.param], text).toEqual([400, name])
    expect(provider.requests).toEqual([])
  })

  it('can’t name files in a JSON body', async () => {
    const body = { model: DALLE, prompt: 'a hat', image: { file: '0', bytes: 5 } }
    const response = await fetch(`${rig.url}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([response.status, provider.requests.length]).toEqual([400, 0])
  })
})

describe('a variation of an image', () => {
  it('is charged as a generation of its size', async () => {
    provider.answers.set(VARIATIONS, { body: images(3) })
    const fields: Field[] = [
      ['image', picture()],
      ['model', DALLE],
      ['n', '3'],
      ['size', '512x512'],
    ]
    const { status, text } = await post('variations', fields)
    expect([status, text]).toEqual([200, JSON.stringify(images(3))])
    expect(await settledCall()).toMatchObject({ charge: 13_500, formats: ['image-variations'] })
  })

  it('with an unknown response format is refused with an error that names it', async () => {
    const { status, text } = await post('variations', [
      ['image', picture()],
      ['model', DALLE],
      ['response_format', 'png'],
    ])
    expect([status, JSON.parse(text).error.param], text).toEqual([400, 'response_format'])
    expect(provider.requests).toHaveLength(0)
  })

  it('needs a form with an image', async () => {
    expect((await post('variations', [['model', DALLE]])).text).toContain('image')
    const response = await fetch(`${rig.url}/v1/images/variations`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: DALLE, image: {} }),
    })
    expect(response.status).toBe(415)
    expect(
      (
        await post('variations', [
          ['model', GPT],
          ['image', picture()],
        ])
      ).status,
    ).toBe(404)
  })
})

it('OpenAI’s client edits and varies images unchanged', async () => {
  const client = new OpenAI({ apiKey: `sk-${KEY}`, baseURL: `${rig.url}/v1`, maxRetries: 0 })
  const file = () => toFile(Buffer.from('picture'), 'cat.png', { type: 'image/png' })
  const edited = await client.images.edit({
    ...{ model: DALLE, prompt: 'a hat', n: 1, size: '256x256' as const },
    ...{ image: await file(), mask: await file() },
  })
  expect(edited.data).toHaveLength(1)
  await client.images.edit({ model: GPT, prompt: 'hats', image: [await file(), await file()] })
  expect(sent().match(/name="image\[\]"; filename="cat.png"/g)).toHaveLength(2)
  const varied = await client.images.createVariation({ model: DALLE, image: await file() })
  expect(varied.data).toHaveLength(1)
  const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
  expect(ends).toHaveLength(3)
})

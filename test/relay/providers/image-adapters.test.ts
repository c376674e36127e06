import { describe, expect, it } from 'vitest'
import {
  DASH_SCOPE,
  DASH_SCOPE_TASKS,
  GEMINI_CONTENT,
  IMAGEN,
  type ImageAdapter,
  MINIMAX_IMAGES,
  REPLICATE_IMAGES,
  SILICON_FLOW,
} from '#relay/providers/openai-compatible/image-adapters.ts'

type Request = Parameters<ImageAdapter['requestOf']>[0]

const adapterRequest = (adapter: ImageAdapter, request: object, model: string): unknown =>
  JSON.parse(JSON.stringify(adapter.requestOf({ prompt: 'a', ...request } as Request, model)))
const written = (adapter: ImageAdapter, request: object) => adapterRequest(adapter, request, 'm')
const answered = (adapter: ImageAdapter, answer: unknown): unknown =>
  JSON.parse(adapter.answer(Buffer.from(JSON.stringify(answer)), 7).toString())

describe('requests for images in the formats of providers', () => {
  it('of SiliconFlow', () => {
    const request = { n: 2, size: '1024x1024', seed: 4 }
    const expected = { model: 'm', prompt: 'a', image_size: '1024x1024', batch_size: 2, seed: 4 }
    expect(written(SILICON_FLOW, request)).toEqual(expected)
  })

  it('of MiniMax', () => {
    const request = { n: 3, size: '720x1280', response_format: 'b64_json' }
    const others = { n: 3, aspect_ratio: '9:16', response_format: 'base64' }
    expect(written(MINIMAX_IMAGES, request)).toEqual({ model: 'm', prompt: 'a', ...others })
  })

  it('of DashScope', () => {
    expect(written(DASH_SCOPE, { n: 2, size: '1328x1328', image: 'u' })).toEqual({
      model: 'm',
      input: { messages: [{ role: 'user', content: [{ image: 'u' }, { text: 'a' }] }] },
      parameters: { n: 2, size: '1328*1328' },
    })
  })

  it('of Replicate, with a version and a size where the model has them', () => {
    const square = { size: '1024x768' }
    expect(adapterRequest(REPLICATE_IMAGES, square, 'a/flux-pro:1f')).toEqual({
      version: '1f',
      input: { prompt: 'a', aspect_ratio: '4:3' },
    })
    expect(adapterRequest(REPLICATE_IMAGES, { ...square, n: 2 }, 'stability-ai/sdxl')).toEqual({
      input: { prompt: 'a', width: 1024, height: 768, num_outputs: 2 },
    })
    expect(written(DASH_SCOPE_TASKS, { n: 1, image: 'u' })).toEqual({ unsupported: 'image' })
  })

  it('can’t have more images than the provider generates, or unsupported images', () => {
    expect(written(IMAGEN, { n: 5 })).toEqual({ unsupported: 'n' })
    expect(written(GEMINI_CONTENT, { n: 2 })).toEqual({ unsupported: 'n' })
    expect(written(MINIMAX_IMAGES, { n: 10 })).toEqual({ unsupported: 'n' })
    expect(written(IMAGEN, { image: 'u' })).toEqual({ unsupported: 'image' })
  })
})

const ADAPTERS: readonly (readonly [string, ImageAdapter])[] = Object.entries({
  ...{ IMAGEN, GEMINI_CONTENT, SILICON_FLOW, MINIMAX_IMAGES, DASH_SCOPE, DASH_SCOPE_TASKS },
  REPLICATE_IMAGES,
})

describe('members of a request for images', () => {
  /** Each member with a value that would change the images. No adapter knows the last one. */
  const members = {
    ...{ size: '1024x768', quality: 'high', style: 'vivid', background: 'transparent' },
    ...{ moderation: 'low', output_format: 'webp', output_compression: 50, user: 'u' },
    ...{ negative_prompt: 'dogs', seed: 0, guidance_scale: 7, watermark: false },
    ...{ partial_images: 2, unknown_member: true },
  }

  it.each(ADAPTERS)('are carried or named as losses: %s', (_name, adapter) => {
    const named = Object.entries(members).filter(([name, value]) => {
      const isCarried =
        JSON.stringify(written(adapter, { [name]: value })) !== JSON.stringify(written(adapter, {}))
      expect([name, adapter.lossesOf({ [name]: value })]).toEqual([name, isCarried ? [] : [name]])
      return !isCarried
    })
    const all = { model: 'm', prompt: 'a', n: 1, stream: true, ...members }
    expect(adapter.lossesOf(all)).toEqual(named.map(([name]) => name))
    expect(adapter.lossesOf(all)).toContain('unknown_member')
  })

  it.each(ADAPTERS)('are no losses if they leave the choice to the provider: %s', (_, adapter) => {
    const request = { quality: 'auto', background: 'auto', size: 'auto', partial_images: 0 }
    expect(adapter.lossesOf({ ...request, moderation: 'auto', style: null })).toEqual([])
  })

  it('are losses if their value can’t be carried', () => {
    for (const [, adapter] of ADAPTERS) {
      const isOfData = adapter === IMAGEN || adapter === GEMINI_CONTENT
      const lost = isOfData ? ['response_format'] : []
      expect(adapter.lossesOf({ response_format: 'url' })).toEqual(lost)
      expect(adapter.lossesOf({ response_format: 'b64_json' })).toEqual([])
      const sizeLost = adapter === SILICON_FLOW ? [] : ['size']
      expect(adapter.lossesOf({ size: 'large' })).toEqual(sizeLost)
    }
  })
})

describe('answers with images in the formats of providers', () => {
  it('of SiliconFlow count once, although they are listed twice', () => {
    const images = [{ url: 'https://a/1?x="' }, { url: 'https://a/2' }]
    expect(answered(SILICON_FLOW, { images, data: images, seed: 1 })).toEqual({
      created: 7,
      data: images,
    })
  })

  it('have only addresses if the provider never answers data', () => {
    const ofAddresses = [SILICON_FLOW, DASH_SCOPE, DASH_SCOPE_TASKS, REPLICATE_IMAGES]
    for (const adapter of ofAddresses) expect(adapter.answersOnlyAddresses).toBe(true)
    for (const adapter of [IMAGEN, GEMINI_CONTENT, MINIMAX_IMAGES]) {
      expect(adapter.answersOnlyAddresses).toBeUndefined()
    }
  })

  it('of MiniMax', () => {
    const base_resp = { status_code: 0, status_msg: 'success' }
    const urls = answered(MINIMAX_IMAGES, { data: { image_urls: ['u1', 'u2'] }, base_resp })
    expect(urls).toEqual({ created: 7, data: [{ url: 'u1' }, { url: 'u2' }] })
    const data = answered(MINIMAX_IMAGES, { data: { image_base64: ['QUJD'] }, base_resp })
    expect(data).toEqual({ created: 7, data: [{ b64_json: 'QUJD' }] })
  })

  it('of DashScope', () => {
    const content = [{ image: 'https://a/1' }, { text: 'ok' }]
    const output = { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content } }] }
    expect(answered(DASH_SCOPE, { output, usage: { image_count: 1 } })).toEqual({
      created: 7,
      data: [{ url: 'https://a/1' }],
    })
  })

  it('are errors if the provider says so with status 200', () => {
    const base_resp = { status_code: 1026, status_msg: 'sensitive' }
    const error = { message: 'sensitive', code: '1026' }
    expect(answered(MINIMAX_IMAGES, { data: null, base_resp })).toEqual({ error })
    const refused = { code: 'DataInspectionFailed', message: 'no' }
    expect(answered(DASH_SCOPE, refused)).toEqual({
      error: { message: 'no', code: 'DataInspectionFailed' },
    })
  })

  it('may be empty', () => {
    expect(answered(IMAGEN, {})).toEqual({ created: 7, data: [] })
    expect(answered(MINIMAX_IMAGES, { base_resp: { status_code: 0 } })).toEqual({
      created: 7,
      data: [],
    })
  })

  it('that are no JSON pass unchanged, and are reported as such', () => {
    const html = Buffer.from('<html>')
    for (const adapter of [MINIMAX_IMAGES, DASH_SCOPE, SILICON_FLOW, GEMINI_CONTENT]) {
      expect(adapter.answer(html, 7).equals(html)).toBe(true)
    }
  })
})

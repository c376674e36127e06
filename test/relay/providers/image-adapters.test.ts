import { describe, expect, it } from 'vitest'
import { imageFactorOf } from '#relay/dialects/openai-images/image-price-factor-and-tokens.ts'
import {
  DASH_SCOPE,
  DASH_SCOPE_TASKS,
  GEMINI_CONTENT,
  IMAGEN,
  type ImageAdapter,
  MINIMAX_IMAGES,
  REPLICATE_IMAGES,
  SILICON_FLOW,
  XAI_IMAGES,
  Z_IMAGE,
} from '#relay/providers/profiles/image-adapters.ts'

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

  it('of DashScope, with the images of an edit in each of its forms', () => {
    const uploaded = { file: '0', type: 'image/png' }
    for (const [pictures, sent] of [
      [{ images: [{ image_url: 'u' }, { image_url: 'v' }] }, ['u', 'v']],
      [{ image: uploaded }, [uploaded]],
      [{ 'image[]': [uploaded, uploaded] }, [uploaded, uploaded]],
    ] as const) {
      const content = [...sent.map((image) => ({ image })), { text: 'a' }]
      expect(written(DASH_SCOPE, pictures)).toMatchObject({
        input: { messages: [{ role: 'user', content }] },
      })
      expect(DASH_SCOPE.lossesOf(pictures, 'm')).toEqual([])
    }
    // An edit without its mask would change the whole image.
    expect(written(DASH_SCOPE, { image: 'u', mask: uploaded })).toEqual({ unsupported: 'mask' })
  })

  it('of Wan since 2.6, with the name of a size where the model takes one', () => {
    const parametersOf = (model: string, request: object) =>
      (adapterRequest(DASH_SCOPE, request, model) as { readonly parameters?: object }).parameters
    for (const model of ['wan2.6-image', 'wan2.7-image-pro']) {
      expect(parametersOf(model, { size: '2K' })).toEqual({ n: 1, size: '2K' })
    }
    expect(parametersOf('wan2.6-t2i', { size: '2K', n: 4 })).toEqual({ n: 4 })
    expect(DASH_SCOPE.lossesOf({ size: '2K' }, 'wan2.6-t2i')).toEqual(['size'])
    expect(adapterRequest(DASH_SCOPE, { n: 5 }, 'wan2.6-t2i')).toEqual({ unsupported: 'n' })
  })

  it('of Z-Image, which makes one image of a text', () => {
    const model = 'z-image-turbo'
    expect(adapterRequest(Z_IMAGE, { size: '1024x1536', seed: 4, n: 1 }, model)).toEqual({
      model,
      input: { messages: [{ role: 'user', content: [{ text: 'a' }] }] },
      parameters: { size: '1024*1536', seed: 4 },
    })
    expect(adapterRequest(Z_IMAGE, { n: 2 }, model)).toEqual({ unsupported: 'n' })
    expect(adapterRequest(Z_IMAGE, { image: 'u' }, model)).toEqual({ unsupported: 'image' })
  })

  it('of xAI, with an aspect ratio and a resolution where the model has them', () => {
    const request = { size: '2048x1152', quality: 'high', user: 'u', response_format: 'url' }
    const others = { prompt: 'a', n: 1, user: 'u', response_format: 'url' }
    expect(adapterRequest(XAI_IMAGES, request, 'grok-imagine-image-2.0')).toEqual({
      ...{ model: 'grok-imagine-image-2.0', ...others },
      ...{ aspect_ratio: '16:9', resolution: '2k', quality: 'high' },
    })
    expect(adapterRequest(XAI_IMAGES, request, 'grok-2-image')).toEqual({
      ...{ model: 'grok-2-image', ...others },
    })
  })

  it('of xAI, with its own members in place of a size', () => {
    const own = { aspect_ratio: '3:2', resolution: '2k' }
    const model = 'grok-imagine-image'
    expect(adapterRequest(XAI_IMAGES, own, model)).toMatchObject(own)
    const other = { ...own, size: '1024x1024', resolution: '1k' }
    expect(adapterRequest(XAI_IMAGES, other, model)).toMatchObject({ ...own, resolution: '1k' })
    expect(XAI_IMAGES.lossesOf(other, model)).toEqual([])
    const unknown = { aspect_ratio: 3, resolution: '8k' }
    for (const [request, name] of [
      [own, 'grok-2-image'],
      [unknown, model],
    ] as const) {
      const sent = adapterRequest(XAI_IMAGES, request, name)
      expect(sent).toEqual({ model: name, prompt: 'a', n: 1 })
      expect(XAI_IMAGES.lossesOf(request, name)).toEqual(['aspect_ratio', 'resolution'])
    }
  })

  it('have the request’s own aspect ratio where the model takes one', () => {
    const own = { size: '2048x2048', aspect_ratio: '21:9' }
    const ofMiniMax = { model: 'image-01', prompt: 'a', n: 1, response_format: 'url' }
    expect(adapterRequest(MINIMAX_IMAGES, own, 'image-01')).toEqual({
      ...{ ...ofMiniMax, aspect_ratio: '21:9' },
    })
    // MiniMax ignores the size beside a ratio, so the image has the price of the usual size.
    expect(MINIMAX_IMAGES.sentImageOf(own as never, 'image-01').size).toBeNull()
    expect(adapterRequest(REPLICATE_IMAGES, own, 'a/flux-pro')).toEqual({
      input: { prompt: 'a', aspect_ratio: '21:9' },
    })
    expect(adapterRequest(REPLICATE_IMAGES, own, 'stability-ai/sdxl')).toEqual({
      input: { prompt: 'a', width: 2_048, height: 2_048 },
    })
    const ratio = { aspect_ratio: '21:9' }
    expect(REPLICATE_IMAGES.lossesOf(ratio, 'stability-ai/sdxl')).toEqual(['aspect_ratio'])
  })

  it('have the aspect ratio 3:2 of the size where the model takes it', () => {
    const landscape = { size: '1536x1024' }
    const ratioOf = (adapter: ImageAdapter, model: string) =>
      /"aspect_?ratio":"([\d:]+)"/i.exec(
        JSON.stringify(adapterRequest(adapter, landscape, model)),
      )?.[1]
    expect(ratioOf(XAI_IMAGES, 'grok-imagine-image')).toBe('3:2')
    expect(ratioOf(GEMINI_CONTENT, 'gemini-2.5-flash-image')).toBe('3:2')
    expect(ratioOf(MINIMAX_IMAGES, 'image-01-live')).toBe('3:2')
    expect(ratioOf(IMAGEN, 'imagen-4.0-generate-001')).toBe('4:3')
  })

  it('state the size where the provider’s model has one', () => {
    const square = { size: '2048x2048' }
    expect(adapterRequest(IMAGEN, square, 'imagen-4.0-generate-001')).toMatchObject({
      parameters: { aspectRatio: '1:1', sampleImageSize: '2K' },
    })
    expect(adapterRequest(GEMINI_CONTENT, square, 'gemini-3-pro-image')).toMatchObject({
      generationConfig: { imageConfig: { aspectRatio: '1:1', imageSize: '2K' } },
    })
    expect(adapterRequest(MINIMAX_IMAGES, square, 'image-01')).toMatchObject({
      ...{ width: 2_048, height: 2_048 },
    })
    const seedream = adapterRequest(REPLICATE_IMAGES, square, 'bytedance/seedream-4')
    expect(seedream).toMatchObject({ input: { size: 'custom', width: 2_048, height: 2_048 } })
    const small = adapterRequest(REPLICATE_IMAGES, { size: '512x512' }, 'a/flux-schnell')
    expect(small).toMatchObject({ input: { aspect_ratio: '1:1', megapixels: '0.25' } })
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
  ...{ REPLICATE_IMAGES, XAI_IMAGES, Z_IMAGE },
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
      expect([name, adapter.lossesOf({ [name]: value }, 'm')]).toEqual([
        name,
        isCarried ? [] : [name],
      ])
      return !isCarried
    })
    const all = { model: 'm', prompt: 'a', n: 1, stream: true, ...members }
    expect(adapter.lossesOf(all, 'm')).toEqual(named.map(([name]) => name))
    expect(adapter.lossesOf(all, 'm')).toContain('unknown_member')
  })

  it.each(ADAPTERS)('are no losses if they leave the choice to the provider: %s', (_, adapter) => {
    const request = { quality: 'auto', background: 'auto', size: 'auto', partial_images: 0 }
    expect(adapter.lossesOf({ ...request, moderation: 'auto', style: null }, 'm')).toEqual([])
  })

  it('are losses if their value can’t be carried', () => {
    for (const [, adapter] of ADAPTERS) {
      const isOfData = adapter === IMAGEN || adapter === GEMINI_CONTENT
      const lost = isOfData ? ['response_format'] : []
      expect(adapter.lossesOf({ response_format: 'url' }, 'm')).toEqual(lost)
      expect(adapter.lossesOf({ response_format: 'b64_json' }, 'm')).toEqual([])
      const sizeLost = adapter === SILICON_FLOW ? [] : ['size']
      expect(adapter.lossesOf({ size: 'large' }, 'm')).toEqual(sizeLost)
    }
  })
})

describe('the price of an image', () => {
  const MODELS: Readonly<Record<string, readonly string[]>> = {
    IMAGEN: ['imagen-3.0-generate-002', 'imagen-4.0-generate-001', 'imagen-4.0-fast-generate-001'],
    GEMINI_CONTENT: ['gemini-2.5-flash-image', 'gemini-3-pro-image'],
    SILICON_FLOW: ['Kwai-Kolors/Kolors'],
    MINIMAX_IMAGES: ['image-01', 'image-01-live'],
    DASH_SCOPE: ['qwen-image-plus', 'wan2.6-t2i', 'wan2.7-image-pro'],
    Z_IMAGE: ['z-image-turbo'],
    DASH_SCOPE_TASKS: ['wan2.2-t2i-flash'],
    REPLICATE_IMAGES: [
      ...['a/flux-schnell', 'a/flux-1.1-pro', 'a/sdxl', 'bytedance/seedream-4', 'a/recraft-v3'],
    ],
    XAI_IMAGES: ['grok-2-image', 'grok-imagine-image', 'grok-imagine-image-2.0'],
  }
  const SIZES = [
    ...[null, 'auto', '256x256', '512x512', '1024x1024', '1024x1536', '1792x1024', '2048x2048'],
    ...['4096x4096', '1K', '2K', '4K', 'huge', '0x0'],
  ]
  const QUALITIES = [null, 'auto', 'standard', 'hd', 'low', 'medium', 'high', 'best']
  const requests = SIZES.flatMap((size) => QUALITIES.map((quality) => ({ size, quality })))
  const factorOf = (adapter: ImageAdapter, request: object, model: string) => {
    const sent = adapter.sentImageOf({ prompt: 'a', ...request } as Request, model)
    return imageFactorOf(sent.size, sent.quality)
  }

  it.each(ADAPTERS)('is the same for the same request to the provider: %s', (name, adapter) => {
    for (const model of MODELS[name] ?? []) {
      const factors = new Map<string, Set<string>>()
      for (const request of requests) {
        const sent = JSON.stringify(adapterRequest(adapter, request, model))
        const factor = factorOf(adapter, request, model)
        factors.set(sent, new Set([...(factors.get(sent) ?? []), factor]))
      }
      for (const [sent, all] of factors) expect([sent, ...all]).toHaveLength(2)
    }
    expect(MODELS[name]?.length).toBeGreaterThan(0)
  })

  /** The adapters of providers that charge the same for each image, although they get its size. */
  const FLAT = ['DASH_SCOPE', 'Z_IMAGE', 'DASH_SCOPE_TASKS']
  const BY_SIZE = ADAPTERS.filter(([name]) => !FLAT.includes(name))

  it.each(BY_SIZE)('is above the requested one only with a loss that says why: %s', (...of) => {
    const [name, adapter] = of
    for (const model of MODELS[name] ?? []) {
      for (const request of requests) {
        const { size, quality } = request
        const isDearer =
          Number(factorOf(adapter, request, model)) > Number(imageFactorOf(size, quality))
        const lost = adapter.lossesOf(request, model)
        if (isDearer) expect([model, size, lost.includes('size')]).toEqual([model, size, true])
      }
    }
  })

  it.each([
    ['IMAGEN', 'imagen-4.0-generate-001', '256x256', 'hd', '1', ['size', 'quality']],
    ['IMAGEN', 'imagen-4.0-generate-001', '2048x2048', null, '1', []],
    ['IMAGEN', 'imagen-4.0-fast-generate-001', '2048x2048', null, '1', ['size']],
    ['GEMINI_CONTENT', 'gemini-2.5-flash-image', '512x512', 'hd', '1', ['size', 'quality']],
    ['GEMINI_CONTENT', 'gemini-3-pro-image', '4K', null, '2', []],
    ['SILICON_FLOW', 'Kwai-Kolors/Kolors', '512x512', 'hd', '0.45', ['quality']],
    ['MINIMAX_IMAGES', 'image-01', '512x512', null, '0.45', []],
    ['MINIMAX_IMAGES', 'image-01', '256x256', 'hd', '1', ['size', 'quality']],
    ['DASH_SCOPE', 'qwen-image-plus', '1664x928', 'hd', '1', ['quality']],
    ['DASH_SCOPE_TASKS', 'wan2.2-t2i-flash', '512x512', 'hd', '1', ['quality']],
    ['DASH_SCOPE', 'wan2.7-image-pro', '2K', null, '1', []],
    ['Z_IMAGE', 'z-image-turbo', '512x512', null, '1', []],
    ['REPLICATE_IMAGES', 'a/flux-1.1-pro', '256x256', 'hd', '1', ['size', 'quality']],
    ['REPLICATE_IMAGES', 'a/flux-schnell', '256x256', null, '0.45', ['size']],
    ['REPLICATE_IMAGES', 'bytedance/seedream-4', '2048x2048', null, '2', []],
    ['XAI_IMAGES', 'grok-2-image', '256x256', 'hd', '1', ['size', 'quality']],
    ['XAI_IMAGES', 'grok-imagine-image', '2048x2048', 'high', '2', ['quality']],
    ['XAI_IMAGES', 'grok-imagine-image-2.0', '1024x1024', 'high', '2', []],
  ])(
    'of %s %s with %s and %s has the factor %s',
    (...[name, model, size, quality, factor, lost]) => {
      const adapter = new Map(ADAPTERS).get(name) as ImageAdapter
      const request = { size, quality }
      expect([factorOf(adapter, request, model), adapter.lossesOf(request, model)]).toEqual([
        ...[factor, lost],
      ])
    },
  )
})

describe('answers with images in the formats of providers', () => {
  it('of SiliconFlow count once, although they are listed twice', () => {
    const images = [{ url: 'https://a/1?x="' }, { url: 'https://a/2' }]
    expect(answered(SILICON_FLOW, { images, data: images, seed: 1 })).toEqual({
      created: 7,
      data: images,
    })
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
    for (const [status_code, code] of [
      [1004, 'invalid_api_key'],
      [1008, 'insufficient_quota'],
    ]) {
      const ofAccount = { base_resp: { status_code, status_msg: 'x' } }
      expect(answered(MINIMAX_IMAGES, ofAccount)).toEqual({ error: { code, message: 'x' } })
    }
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

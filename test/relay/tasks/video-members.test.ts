import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEY } from '../support/relay-rig.ts'
import { videosRig } from './videos-rig.ts'

const rig = startedOnce(() => videosRig())
const owner = { authorization: `Bearer sk-${KEY}` }
const [one, other] = ['https://a.example/1.png', 'https://a.example/2.png']
const GEMINI = '/v1beta/models/veo-3.1-generate-preview:predictLongRunning'
const SUBMIT = 'POST /v1/videos/image2video'
const TEXT = 'POST /v1/videos/text2video'
const PREDICT = `POST ${GEMINI}`

const posted = () => rig.vendor.requests.filter(({ method }) => method === 'POST')
const submissions = () => posted().length
const lastBody = () => JSON.parse(posted().at(-1)?.body ?? '')
const droppedBy = async (path: string, body: object) => {
  const { status, headers, text } = await rig.post(path, body)
  expect(status, text).toBe(200)
  return headers.get('x-dropped-members')
}

beforeEach(() => {
  const name = 'models/veo-3.1-generate-preview/operations/op1'
  rig.vendor.answers.set(SUBMIT, { body: { code: 0, data: { task_id: 'k1' } } })
  rig.vendor.answers.set(TEXT, { body: { code: 0, data: { task_id: 'k2' } } })
  rig.vendor.answers.set(PREDICT, { body: { name } })
})

describe('members of a request for a video that are not sent', () => {
  const video = { model: 'kling-v1-6', prompt: 'the sea', image: one }

  it('are named, those inside `metadata` with their path', async () => {
    const metadata = { cfg_scale: 0.5, duration: 10, image: other, negative_prompt: 'rain' }
    const body = { ...video, callback_url: 'https://c.example', metadata }
    expect(await droppedBy('/v1/video/generations', body)).toBe(
      'callback_url, metadata.cfg_scale, metadata.image',
    )
    expect(lastBody()).toMatchObject({ image: one, duration: '10', negative_prompt: 'rain' })
  })

  it('are named if the vendor has no such option, as the request names it', async () => {
    const path = '/v1/video/generations'
    const body = { ...video, seed: 7, ratio: '1:1', metadata: { resolution: '720p' } }
    expect(await droppedBy(path, body)).toBe('metadata.resolution, ratio, seed')
    const plain = { model: 'kling-v1-6', prompt: 'the sea', ratio: '1:1', sound: 'off' }
    expect(await droppedBy(path, plain)).toBeNull()
    expect(lastBody()).toMatchObject({ aspect_ratio: '1:1' })
    const parameters = { durationSeconds: 8, resolution: '720p', seed: 7, aspectRatio: '16:9' }
    expect(await droppedBy(GEMINI, { instances: [{ prompt: 'x' }], parameters })).toBeNull()
  })

  it('are named if they are second names with other values', async () => {
    const path = '/v1/video/generations'
    expect(await droppedBy(path, { ...video, seconds: 5, duration: 10 })).toBe('duration')
    expect(await droppedBy(path, { ...video, seconds: '5', duration: 5 })).toBeNull()
    expect(await droppedBy(path, { ...video, metadata: 'fast' })).toBe('metadata')
    const aspects = { aspect_ratio: '16:9', ratio: { toString: 1 } }
    expect(await droppedBy(path, { ...video, ...aspects })).toContain('ratio')
  })

  it('are named in the Gemini API', async () => {
    const instances = [{ prompt: 'the sea', style: 'oil' }]
    const parameters = { durationSeconds: 8, enhancePrompt: true }
    expect(await droppedBy(GEMINI, { instances, parameters, labels: {} })).toBe(
      'labels, instances.style, parameters.enhancePrompt',
    )
  })
})

describe('commands in a prompt for Doubao', () => {
  const send = async (prompt: string, fields: object = {}) => {
    const model = 'doubao-seedance-1-0-pro-250528'
    rig.vendor.answers.set('POST /api/v3/contents/generations/tasks', { body: { id: 'd1' } })
    const dropped = await droppedBy('/v1/videos', { model, prompt, ...fields })
    const { content, ...sent } = lastBody()
    return { dropped, text: content[0].text, sent }
  }

  it('are sent as members of the request', async () => {
    const prompt = 'the sea --seed 5 --cf true --WM=True --rs 480p --dur 3 --rt 1:1'
    const { dropped, text, sent } = await send(prompt)
    expect([text, dropped]).toEqual(['the sea', null])
    expect(sent).toMatchObject({ seed: 5, camera_fixed: true, watermark: true, ratio: '1:1' })
    expect(sent).toMatchObject({ resolution: '480p', duration: 3 })
    expect((await send('x --camerafixed false --watermark false')).sent).toMatchObject({
      ...{ camera_fixed: false, watermark: false },
    })
  })

  it('are named if they have no effect', async () => {
    const { dropped, sent } = await send('x --frames 57 --fps 24 --seed 5 --wm yes --dur 3', {
      ...{ seed: 7, seconds: 5 },
    })
    expect(dropped).toBe('prompt --frames, prompt --fps, prompt --seed, prompt --wm, prompt --dur')
    expect(sent).toMatchObject({ seed: 7, duration: 5 })
    expect(sent).not.toHaveProperty('watermark')
    for (const seed of ['-2', '4294967296', 'undefined', 'null', '1.5', '']) {
      const other = await send(`x --seed ${seed} end`)
      expect([other.dropped, other.sent.seed], seed).toEqual(['prompt --seed', undefined])
    }
  })
})

describe('pictures of a request for a video that would be lost', () => {
  it.each([
    [{ image: one, input_reference: other }, 'input_reference'],
    [{ image: one, image_tail: one, last_image: other }, 'last_image'],
  ])('are refused under a second name: %o', async (pictures, param) => {
    const before = submissions()
    const body = { model: 'kling-v1-6', prompt: 'the sea', ...pictures }
    const { status, json, text } = await rig.post('/v1/videos', body)
    expect([status, json.error.param], text).toEqual([400, param])
    expect(submissions()).toBe(before)
  })

  it.each([
    ['viduq2', 'image'],
    ['doubao-seedance-1-0-pro-250528', 'image'],
    ['jimeng_t2v_v30', 'image'],
    ['veo-3.1-generate-preview', 'image'],
    ['sora-2', 'last_image'],
  ])('are refused as last frame without a first one by %s', async (model, param) => {
    const [before, balance] = [submissions(), await rig.balance()]
    const body = { model, prompt: 'the sea', last_image: one }
    const { status, json, text } = await rig.post('/v1/videos', body)
    expect([status, json.error.param], text).toEqual([400, param])
    expect([submissions(), await rig.balance()]).toEqual([before, balance])
  })

  it.each(['/v1/videos', '/v1/video/generations', '/kling/v1/videos/image2video'])(
    'are sent to Kling as last frame alone, by %s',
    async (path) => {
      const body = { model: 'kling-v1-6', image_tail: other, aspect_ratio: '1:1' }
      expect(await droppedBy(path, body)).toBe('aspect_ratio')
      expect(posted().at(-1)?.path).toBe('/v1/videos/image2video')
      expect(lastBody()).toMatchObject({ image_tail: other })
      expect(lastBody()).not.toHaveProperty('image')
      expect(lastBody()).not.toHaveProperty('aspect_ratio')
    },
  )

  it('are refused by Kling’s path for pictures if there is none', async () => {
    const body = { model: 'kling-v1-6', prompt: 'the sea' }
    const { status, text } = await rig.post('/kling/v1/videos/image2video', body)
    expect(status, text).toBe(400)
  })

  it('are sent to MiniMax as last frame alone', async () => {
    const answer = { task_id: 'h1', base_resp: { status_code: 0 } }
    rig.vendor.answers.set('POST /v1/video_generation', { body: answer })
    const body = { model: 'MiniMax-Hailuo-02', last_image: other }
    expect(await droppedBy('/v1/videos', body)).toBeNull()
    expect(lastBody()).toMatchObject({ last_frame_image: other })
  })

  it('are sent once if both names have the same picture', async () => {
    const body = { model: 'kling-v1-6', prompt: 'the sea', image: one, input_reference: one }
    expect((await rig.post('/v1/videos', body)).status).toBe(200)
    expect(lastBody()).toMatchObject({ image: one })
  })

  it.each(['referenceImages', 'video'])('are refused as %s of the Gemini API', async (name) => {
    const before = submissions()
    const instances = [{ prompt: 'the sea', [name]: [{ image: { gcsUri: 'gs://b/1.png' } }] }]
    const { status, text } = await rig.post(GEMINI, { instances })
    expect(status, text).toBe(400)
    expect(text).toContain(`instances.${name}`)
    expect(submissions()).toBe(before)
  })
})

describe('files under names that the gateway does not read', () => {
  const [SEEDANCE, HAILUO] = ['doubao-seedance-1-0-pro-250528', 'MiniMax-Hailuo-02']
  const content = [
    { type: 'text', text: 'x' },
    { type: 'image_url', image_url: { url: one } },
  ]
  const nested = `${'{"a":['.repeat(2_000)}{"img":"${one}"}${']}'.repeat(2_000)}`
  const refused: readonly [model: string, body: object, param: string][] = [
    [SEEDANCE, { image_url: one }, 'image_url'],
    [SEEDANCE, { content }, 'content'],
    [SEEDANCE, { metadata: { content } }, 'metadata.content'],
    [HAILUO, { first_frame_image: one }, 'first_frame_image'],
    [HAILUO, { metadata: { first_frame_image: one } }, 'metadata.first_frame_image'],
    [
      ...([HAILUO, { metadata: { subject_reference: [{ image: [one] }] } }] as const),
      'metadata.subject_reference',
    ],
    ['sora-2', { image_url: one }, 'image_url'],
    ['sora-2', { 'metadata.b': 'x', metadata: { b: { videoUrl: one } } }, 'metadata.b'],
    ['sora-2', { metadata: `{"image_url":"${one}"}` }, 'metadata'],
    ['sora-2', { parameters: { img: { file_id: 'file-1' } } }, 'parameters'],
    ['sora-2', { other: 'data:image/png;base64,iVBORw0KGgo=' }, 'other'],
    ['sora-2', { other: nested }, 'other'],
    ['wan2.5-t2v-preview', { audio_url: one }, 'audio_url'],
  ]

  it.each(refused)('are refused by %s: %j', async (model, body, param) => {
    const [before, balance] = [submissions(), await rig.balance()]
    for (const path of ['/v1/videos', '/v1/video/generations']) {
      const { status, json, text } = await rig.post(path, { model, prompt: 'x', ...body })
      expect([status, json.error?.param], text).toEqual([400, param])
    }
    expect([submissions(), await rig.balance()]).toEqual([before, balance])
  })

  it('are refused in the Gemini API', async () => {
    const before = submissions()
    for (const [instance, parameters, param] of [
      [{ firstFrame: { bytesBase64Encoded: 'iVBORw0K'.repeat(8) } }, {}, 'instances.firstFrame'],
      [{}, { mask: { gcsUri: 'gs://b/1.png' } }, 'parameters.mask'],
    ] as const) {
      const body = { instances: [{ prompt: 'the sea', ...instance }], parameters }
      const { status, text } = await rig.post(GEMINI, body)
      expect(status, text).toBe(400)
      expect(text).toContain(param)
    }
    expect(submissions()).toBe(before)
  })

  it('are refused in a form', async () => {
    const form = new FormData()
    form.set('model', 'sora-2')
    form.set('prompt', 'the sea')
    form.set('other_file', new Blob(['x'], { type: 'image/png' }), 'a.png')
    const before = submissions()
    const sending = { method: 'POST', headers: owner, body: form }
    const answer = await fetch(`${rig.url}/v1/videos`, sending)
    const { error } = (await answer.json()) as { error: { param: string } }
    expect([answer.status, error.param]).toEqual([400, 'other_file'])
    expect(submissions()).toBe(before)
  })

  it('are not suspected in addresses for notices, and in names without a file', async () => {
    const body = {
      ...{ model: 'kling-v1-6', prompt: 'x', callback_url: one, image_reference: 'face' },
      ...{ profile_url: one, preference: one, video: { webhook_url: one }, frames: 57 },
      ...{ profile_id: 'p1', extra_headers: { 'X-Image-Source': one }, output_image_url: one },
      metadata: { client_metadata: { image: one }, user: { image: one }, image_upload_url: one },
    }
    expect(await droppedBy('/v1/video/generations', body)).toContain('profile_url')
  })
})

describe('the size in the answers about a video', () => {
  const WAN_SUBMIT = 'POST /api/v1/services/aigc/video-generation/video-synthesis'
  const IMAGE_MODEL = 'wan2.6-i2v'
  const TEXT_MODEL = 'wan2.5-t2v-preview'
  const HAILUO = 'MiniMax-Hailuo-02'
  beforeAll(async () => {
    await rig.addChannel(601, { type: 17, models: [IMAGE_MODEL], baseUrl: rig.vendor.url })
    await rig.setOption('ModelPrice', { viduq2: 0.05, [IMAGE_MODEL]: 0.1 })
  })

  it.each([
    [TEXT_MODEL, { size: '854x480' }, '832x480'],
    [TEXT_MODEL, { size: '1280x720' }, '1280x720'],
    [TEXT_MODEL, { resolution: '720p', size: '1080x1920' }, '720x1280'],
    [TEXT_MODEL, { resolution: '480p' }, '832x480'],
    [IMAGE_MODEL, { resolution: '720p', size: '1920x1080', image: one }, '720p'],
    [IMAGE_MODEL, { size: '1920x1080', image: one }, '1080p'],
    ['viduq2', { size: '1280x720' }, '1280x720'],
    ['viduq2', { size: '1280x720', image: one }, '720p'],
    ['viduq2', { size: '1280x720', aspect_ratio: '1:1' }, '720p'],
    ['viduq2', { size: '1270x720' }, '720p'],
    [HAILUO, { size: '1080x1920', image: one }, '1080p'],
    [HAILUO, { size: '1920x1080' }, '1080p'],
    ['veo-3.1-generate-preview', { size: '3840x2160' }, '3840x2160'],
    ['kling-v1-6', { size: '1920x1080' }, ''],
    ['sora-2', { size: '720x1280' }, '720x1280'],
  ])('is that of the video made by %s for %j', async (model, fields, size) => {
    const { answers } = rig.vendor
    answers.set(WAN_SUBMIT, { body: { output: { task_id: 'w1', task_status: 'PENDING' } } })
    for (const kind of ['text2video', 'img2video']) {
      answers.set(`POST /ent/v2/${kind}`, { body: { task_id: 'v1', state: 'created' } })
    }
    const base_resp = { status_code: 0 }
    answers.set('POST /v1/video_generation', { body: { task_id: 'h1', base_resp } })
    answers.set('POST /v1/videos', { body: { id: 'video_1', status: 'queued' } })
    const { status, json, text } = await rig.post('/v1/videos', { model, prompt: 'x', ...fields })
    expect([status, json.size], text).toEqual([200, size])
    expect((await rig.ask(`/v1/videos/${json.id}`)).json.size).toBe(size)
  })
})

describe('an error about a request for a video', () => {
  const [KLING, SEEDANCE, HAILUO] = [
    'kling-v1-6',
    'doubao-seedance-1-0-pro-250528',
    'MiniMax-Hailuo-02',
  ]
  const VEO = '/v1beta/models/veo-3.1-generate-preview:predictLongRunning'
  const JIMENG = '/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31'
  const [NATIVE, GENERIC] = ['/kling/v1/videos/text2video', '/v1/video/generations']
  const instances = [{ prompt: 'x' }]
  const withParameter = (name: string, value: unknown) => ({
    instances,
    parameters: { [name]: value },
  })
  const many = Array.from({ length: 9 }, () => one)

  it.each<readonly [path: string, body: object, param: string, text: string]>([
    [NATIVE, { model_name: KLING, duration: '99' }, 'duration', '3–15'],
    [GENERIC, { model: KLING, duration: 99 }, 'duration', '3–15'],
    [GENERIC, { model: KLING, metadata: { seconds: 99 } }, 'metadata.seconds', '3–15'],
    [GENERIC, { model: 'wan2.5-t2v-preview', ratio: '3:2' }, 'ratio', '16:9, 9:16, 1:1, 4:3, 3:4'],
    [VEO, withParameter('durationSeconds', 99), 'parameters.durationSeconds', '4–8'],
    [VEO, withParameter('aspectRatio', 'wide'), 'parameters.aspectRatio', '16:9, 9:16'],
    [VEO, withParameter('negativePrompt', {}), 'parameters.negativePrompt', 'a string'],
    [VEO, withParameter('resolution', '99p'), 'parameters.resolution', '720p, 1080p, 4k'],
    [VEO, withParameter('numberOfVideos', 2), 'parameters.numberOfVideos', 'Possible values: 1.'],
    [VEO, { instances: [{ prompt: {} }] }, 'instances.prompt', 'a string'],
    [VEO, { instances: [{ image: { gcsUri: 'x' } }] }, 'instances.image', 'bytesBase64Encoded'],
    [VEO, { instances: [{ lastFrame: 1 }] }, 'instances.lastFrame', 'bytesBase64Encoded'],
    [VEO, {}, 'instances', '[{"prompt": "…"}]'],
    [VEO, { instances: [...instances, ...instances] }, 'instances', '[{"prompt": "…"}]'],
    [JIMENG, { req_key: 5 }, 'req_key', 'a string'],
    [JIMENG, { req_key: 'jimeng_t2v_v30', image_urls: ['x'] }, 'image_urls[0]', 'https://…'],
    [
      ...([JIMENG, { req_key: 'jimeng_t2v_v30', binary_data_base64: ['x'] }] as const),
      ...(['binary_data_base64[0]', 'data:image/png;base64,…'] as const),
    ],
    [JIMENG, { req_key: 'jimeng_t2v_v30', image_urls: many }, 'image_urls', 'more than 8'],
    [JIMENG, { req_key: 'jimeng_t2v_v30', image_urls: 'x' }, 'image_urls', '["…"]'],
    [GENERIC, { model: 'viduq2', size: '100x100' }, 'size', '1280x720, 720x1280, 640x360'],
    [GENERIC, { model: SEEDANCE, size: '100x100' }, 'size', '1920x1080, 1080x1920'],
    [GENERIC, { model: 'veo-3.1-generate-preview', size: '1x1' }, 'size', '3840x2160'],
    [GENERIC, { model: HAILUO, size: '100x100' }, 'size', '1366x768, 1920x1080, 910x512'],
    [GENERIC, { model: 'sora-2', size: 'foo' }, 'size', '720x1280, 1280x720'],
    [GENERIC, { model: KLING, size: 'foo' }, 'size', '1280x720'],
    [GENERIC, { model: 'sora-2', resolution: '99p' }, 'resolution', '720p, 1024p, 1080p'],
    [GENERIC, { model: 'sora-2', seconds: 'abc' }, 'seconds', '4, 8, 12, 16, 20'],
    [GENERIC, { model: HAILUO, seconds: 5.5 }, 'seconds', '6, 10'],
    [GENERIC, { model: SEEDANCE, prompt: 'x --rs 99p' }, 'prompt --rs', '1080p, 720p, 480p'],
    [GENERIC, { model: SEEDANCE, prompt: 'x --dur 99' }, 'prompt --dur', '2–15'],
    [GENERIC, { model: KLING, aspect_ratio: 'wide' }, 'aspect_ratio', '16:9, 9:16'],
    [GENERIC, { model: KLING, seed: 5.5 }, 'seed', 'an integer in the range -9007199254740991–'],
    [GENERIC, { model: KLING, generate_audio: 'yes' }, 'generate_audio', 'true, false'],
    [GENERIC, { model: KLING, mode: 5 }, 'mode', 'std, pro'],
    [GENERIC, { model: 'viduq2', images: many }, 'images', 'more than 8'],
    [GENERIC, { model: 'viduq2', images: one }, 'images', '["https://…"]'],
    [GENERIC, { model: KLING, prompt: 'x'.repeat(16_385) }, 'prompt', 'longer than 16384'],
    [GENERIC, { model: KLING, prompt: 5 }, 'prompt', 'a string'],
    [GENERIC, { model: KLING, image: one, input_reference: other }, 'input_reference', 'leave it'],
    [
      ...([GENERIC, { model: 'veo-3.1-generate-preview', images: [one] }] as const),
      ...(['images[0]', 'data:image/png;base64,…'] as const),
    ],
  ])('of %s with %j names %s and what is possible', async (path, body, param, possible) => {
    const isGemini = path === VEO
    const { status, json, text } = await rig.post(path, isGemini ? body : { prompt: 'x', ...body })
    expect(status, text).toBe(400)
    expect(json.error.message).toContain(`'${param}'`)
    expect(json.error.message).toContain(possible)
    if (!isGemini) expect(json.error.param).toBe(param)
  })

  it('does not concern seeds and sound that are texts, as in forms', async () => {
    rig.vendor.answers.set('POST /v1/videos/text2video', {
      body: { code: 0, message: 'SUCCEED', data: { task_id: 'k1', task_status: 'submitted' } },
    })
    const fields = { seed: '-1', generate_audio: 'true' }
    const { status, text } = await rig.post(GENERIC, {
      model: 'kling-v2-6',
      prompt: 'x',
      ...fields,
    })
    expect(status, text).toBe(200)
    const sent = rig.vendor.requests.findLast(({ path }) => path === '/v1/videos/text2video')
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ sound: 'on' })
  })
})

import { describe, expect, it } from 'vitest'
import { videoPrice } from '#domain/pricing/video-prices.ts'
import type { RelayError } from '#relay/canonical/relay-error.ts'
import { TaskRequestError } from '#relay/tasks/read-task-request-body.ts'
import { DOUBAO } from '#relay/tasks/videos/doubao.ts'
import { HAILUO } from '#relay/tasks/videos/hailuo.ts'
import { JIMENG } from '#relay/tasks/videos/jimeng.ts'
import { KLING } from '#relay/tasks/videos/kling.ts'
import { submissionOf } from '#relay/tasks/videos/select-channels-and-build-video-request.ts'
import { SORA } from '#relay/tasks/videos/sora.ts'
import { VEO } from '#relay/tasks/videos/veo.ts'
import { VEO_ON_VERTEX } from '#relay/tasks/videos/veo-on-vertex.ts'
import type { VideoRequest, VideoVendor } from '#relay/tasks/videos/video-vendor.ts'
import { VIDU } from '#relay/tasks/videos/vidu.ts'
import { WAN } from '#relay/tasks/videos/wan.ts'
import { threadCpuMs } from '#test/support/time-limit.ts'

const VENDORS: readonly [VideoVendor, model: string][] = [
  [DOUBAO, 'doubao-seedance-1-0-pro-250528'],
  [HAILUO, 'MiniMax-Hailuo-02'],
  [JIMENG, 'jimeng_t2v_v30'],
  [KLING, 'kling-v2-6'],
  [SORA, 'sora-2'],
  [VEO, 'veo-3.1-generate-preview'],
  [VEO, 'veo-2.0-generate-001'],
  [VEO_ON_VERTEX, 'veo-3.1-generate-001'],
  [VIDU, 'viduq2'],
  [VIDU, 'viduq1'],
  [VIDU, 'viduq3-pro'],
  [WAN, 'wan2.5-t2v-preview'],
  [WAN, 'wan2.1-t2v-turbo'],
  [WAN, 'wan2.6-t2v'],
  [WAN, 'wan2.7-t2v'],
]

/** Values of each option that are not the default of a vendor. */
const OPTIONS = {
  negativePrompt: ['rain'],
  seconds: [4, 8, 10, 12],
  size: ['1920x1080', '1280x720', '720x1280'],
  resolution: ['1080p', '480p'],
  ratio: ['1:1', '9:16'],
  seed: [7],
  hasAudio: [true, false],
  mode: ['pro'],
} as const satisfies Partial<Record<keyof VideoRequest, readonly unknown[]>>

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const plainRequest = (model: string, images: readonly string[]): VideoRequest => ({
  ...{ action: images.length === 0 ? 'TEXT_TO_VIDEO' : 'IMAGE_TO_VIDEO', model },
  ...{ prompt: 'the sea', negativePrompt: null, seconds: null, size: null, resolution: null },
  ...{ ratio: null, images, lastImage: null, seed: null, hasAudio: null, mode: null },
})

it.each(VENDORS)('$platform refuses a size that is none, or does not read it', (vendor, model) => {
  for (const size of ['abc', '0x0', '1x100', '1280x', '99999x720']) {
    for (const resolution of [null, '720p', '768p']) {
      const outcome = submittedTo(vendor, model, { ...plainRequest(model, []), size, resolution })
      if (outcome !== null) expect(outcome.unread, `${size} ${resolution}`).toContain('size')
    }
  }
})

/** What is sent and held for a request, and the options that are named; null if it is refused. */
function submittedTo(vendor: VideoVendor, model: string, request: VideoRequest) {
  const names = new Map(
    (Object.keys(OPTIONS) as (keyof typeof OPTIONS)[]).flatMap((option) =>
      request[option] === null ? [] : [[option, option] as const],
    ),
  )
  try {
    const media = { size: request.size, ...vendor.media(request, model) }
    const { call, unread } = submissionOf(vendor, { request, platform: null, names }, media, {
      model,
      originId: null,
    })
    const { size: _, ...held } = media
    return { sent: JSON.stringify([call, held]), unread }
  } catch (error) {
    if (error instanceof TaskRequestError) return null
    throw error
  }
}

/** Returns the error with which a vendor refuses a video, or null if it offers the video. */
function refusalOf(work: () => unknown): RelayError | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof TaskRequestError) return error.error
    throw error
  }
}

describe.each(VENDORS)('a video of $platform', (vendor, model) => {
  it.each([
    ['text', []],
    ['a picture', [PICTURE]],
  ])(`of %s gets each option, or it is named or refused (${model})`, (_name, images) => {
    const plain = plainRequest(model, images)
    const without = submittedTo(vendor, model, plain)
    expect(without?.unread).toEqual([])
    for (const [option, values] of Object.entries(OPTIONS)) {
      const lost = values.map((value) => {
        const made = submittedTo(vendor, model, { ...plain, [option]: value })
        if (made === null || made.unread.includes(option)) return false
        return made.sent === without?.sent
      })
      // One of the values may be the default.
      expect(lost, option).toContain(false)
    }
  })
})

const NO_STATUSES = ['constructor', 'toString', '__proto__', ['queued'], { toString: 1 }, true]

describe.each<[VideoVendor, (status: unknown) => object]>([
  [DOUBAO, (status) => ({ status })],
  [HAILUO, (status) => ({ status })],
  [JIMENG, (status) => ({ code: 10_000, data: { status } })],
  [KLING, (status) => ({ data: { task_status: status } })],
  [SORA, (status) => ({ status })],
  [VIDU, (state) => ({ state })],
  [WAN, (status) => ({ output: { task_status: status } })],
])('a report of $platform', (vendor, answerWith) => {
  it.each(NO_STATUSES)('with the status %j can not be read', (status) => {
    expect(vendor.readReport(JSON.parse(JSON.stringify(answerWith(status))))).toBeNull()
  })
})

describe('a request to Wan', () => {
  it.each(['wan2.6', 'wan2.6-t2v', 'wan2.7-i2v', 'wanx2.1-t2v-turbo', 'wan2.2-kf2v-flash'])(
    'for %s costs the listed price per second unless it names a higher resolution',
    (model) => {
      const price = { mode: 'call', list: 0, price: '0.1', group: '1' } as const
      const { resolution, options } = WAN.media(plainRequest(model, []), model)
      const conditions = { resolution: resolution ?? null, seconds: 5, options: options ?? [] }
      expect(videoPrice(price, [model], 'wan', conditions)).toEqual({ ...price, per: 'second' })
    },
  )

  it('for Wan 2.7 names the resolution, the ratio and the picture as its API expects them', () => {
    const sent = (changes: Partial<VideoRequest>) => {
      const request = { ...plainRequest('wan2.7-t2v', []), ...changes }
      const media = { size: null, ...WAN.media(request, 'wan2.7-t2v') }
      const { call } = submissionOf(WAN, { request, platform: null, names: new Map() }, media, {
        ...{ model: 'wan2.7-t2v', originId: null },
      })
      return call.body
    }
    expect(sent({ ratio: '9:16' })).toMatchObject({
      parameters: { resolution: '720P', ratio: '9:16', duration: 5 },
    })
    expect(sent({})).not.toHaveProperty('parameters.size')
    expect(sent({ images: [PICTURE], resolution: '1080p' })).toMatchObject({
      input: { media: [{ type: 'first_frame', url: PICTURE }] },
      parameters: { resolution: '1080P' },
    })
  })

  it.each([
    ['wan2.6-t2v', '960x960', '720p', '960*960'],
    ['wan2.6-t2v', '960*960', '720p', '960*960'],
    ['wan2.6-t2v', '1088x832', '720p', '1088*832'],
    ['wan2.6-t2v', '832×1088', '720p', '832*1088'],
    ['wan2.6-t2v', '1440x1440', '1080p', '1440*1440'],
    ['wan2.6-t2v', '1632X1248', '1080p', '1632*1248'],
    ['wan2.5-t2v-preview', '624x624', '480p', '624*624'],
    ['wan2.2-t2v-plus', '480x832', '480p', '480*832'],
    ['wanx2.1-t2v-turbo', '1280x720', '720p', '1280*720'],
  ])('for %s makes a video of %s, which is billed as %s', (model, size, resolution, sent) => {
    const request = { ...plainRequest(model, []), size }
    const media = { size: null, ...WAN.media(request, model) }
    expect(media).toMatchObject({ resolution, size: sent.replace('*', 'x') })
    const { body } = WAN.submit(request, media, { model, originId: null })
    expect(body).toMatchObject({ parameters: { size: sent } })
  })

  it.each([
    ['wan2.6-t2v', '624x624'],
    ['wan2.6-t2v', '1000x700'],
    ['wan2.6-t2v', 'large'],
    ['wan2.2-t2v-plus', '960x960'],
  ])('for %s with the size %s is refused and told the sizes of the model', (model, size) => {
    const refusal = refusalOf(() => WAN.media({ ...plainRequest(model, []), size }, model))
    const { param, subject } = refusal?.params ?? {}
    expect([refusal?.code, param]).toEqual(['video_option_invalid', 'size'])
    expect(subject).toContain('1440x1440')
    expect(subject?.includes('960x960')).toBe(model === 'wan2.6-t2v')
    expect(subject?.includes('624x624')).toBe(model === 'wan2.2-t2v-plus')
  })

  const AT_480P = '16:9, 9:16, 1:1'
  const OTHER_720P = '1088x832, 832x1088'
  it.each([
    ['wan2.5-t2v-preview', { ratio: '21:9' }, 'aspect_ratio', `${AT_480P}, 4:3, 3:4`],
    ['wan2.5-t2v-preview', { ratio: '3:2' }, 'aspect_ratio', `${AT_480P}, 4:3, 3:4`],
    ['wan2.6-t2v', { ratio: '99:1', size: '1280x720' }, 'aspect_ratio', `${AT_480P}, 4:3, 3:4`],
    ['wan2.5-t2v-preview', { ratio: '4:3', resolution: '480p' }, 'aspect_ratio', AT_480P],
    ['wan2.6-t2v', { size: '1680x720' }, 'size', `1280x720, 720x1280, 960x960, ${OTHER_720P}`],
    [
      'wan2.5-t2v-preview',
      { size: '1088x832', resolution: '480p' },
      ...(['size', '832x480, 480x832, 624x624'] as const),
    ],
  ])('for %s with %j, which has another shape, is refused', (model, changes, param, subject) => {
    const work = () => WAN.media({ ...plainRequest(model, []), ...changes }, model)
    expect(refusalOf(work)).toMatchObject({
      code: 'video_option_invalid',
      params: { param, subject },
    })
    // The picture determines the shape of the video.
    expect(() => WAN.media({ ...plainRequest(model, [PICTURE]), ...changes }, model)).not.toThrow()
  })

  const FIRST = 'https://a.example/first.png'
  const LAST = 'https://a.example/last.png'

  it.each([
    ['wan2.5-t2v-preview', { size: '854x480' }, '480p'],
    ['wan2.6-i2v', { size: '1080x1080', images: [PICTURE] }, '1080p'],
    ['wan2.7-t2v', { size: '720x720' }, '720p'],
  ])('for %s with %j has the resolution of the shorter side', (model, changes, resolution) => {
    expect(WAN.media({ ...plainRequest(model, []), ...changes }, model)).toMatchObject({
      resolution,
    })
  })

  it('with a resolution tells that its size is not sent', () => {
    const model = 'wan2.6-i2v'
    const options = { resolution: '720p', size: '1920x1080', images: [PICTURE] }
    const request = { ...plainRequest(model, []), ...options }
    const names = new Map([['size', 'size'] as const])
    const media = { size: null, ...WAN.media(request, model) }
    const { unread } = submissionOf(WAN, { request, platform: null, names }, media, {
      ...{ model, originId: null },
    })
    expect(unread).toEqual(['size'])
  })

  it('for Wan 2.7 may have a last frame beside the first one', () => {
    const model = 'wan2.7-i2v'
    const request = { ...plainRequest(model, [FIRST]), lastImage: LAST }
    const { body } = WAN.submit(
      request,
      { size: null, ...WAN.media(request, model) },
      {
        ...{ model, originId: null },
      },
    )
    expect(body).toMatchObject({
      input: {
        media: [
          { type: 'first_frame', url: FIRST },
          { type: 'last_frame', url: LAST },
        ],
      },
    })
  })

  it.each(['wan2.2-kf2v-flash', 'wan2.1-kf2v-plus', 'wanx2.1-kf2v-plus'])(
    'for %s has the first and the last frame at the path of these models',
    (model) => {
      const request = { ...plainRequest(model, [FIRST]), lastImage: LAST, seed: 7 }
      const media = { size: null, ...WAN.media(request, model) }
      expect(WAN.submit(request, media, { model, originId: null })).toMatchObject({
        path: '/api/v1/services/aigc/image2video/video-synthesis',
        body: {
          ...{ model, input: { prompt: 'the sea', first_frame_url: FIRST, last_frame_url: LAST } },
          parameters: { resolution: '720P', seed: 7 },
        },
      })
    },
  )

  it('for a video between two frames is refused without one of them', () => {
    const model = 'wan2.2-kf2v-flash'
    const refused = (changes: Partial<VideoRequest>) =>
      refusalOf(() => {
        const request = { ...plainRequest(model, []), ...changes }
        const media = { size: null, ...WAN.media(request, model) }
        WAN.submit(request, media, { model, originId: null })
      })
    const missing = (param: string) => ({ code: 'missing_parameter', params: { param } })
    expect(refused({ images: [FIRST] })).toEqual(missing('last_image'))
    expect(refused({ lastImage: LAST })).toEqual(missing('image'))
    expect(refused({ images: [FIRST], lastImage: LAST })).toBeNull()
  })

  it('for wan2.2-kf2v-flash costs half as much at 480p and 2.4 times as much at 1080p', () => {
    const model = 'wan2.2-kf2v-flash'
    const price = { mode: 'call', list: 0, price: '0.1', group: '1' } as const
    const ratioAt = (requested: string) => {
      const request = { ...plainRequest(model, [FIRST]), resolution: requested }
      const { resolution, seconds } = WAN.media(request, model)
      const billed = videoPrice(price, [model], 'wan', { resolution, seconds, options: [] })
      return 'factors' in billed ? billed.factors?.map(({ ratio }) => ratio) : ['1']
    }
    expect(['480p', '720p', '1080p'].map(ratioAt)).toEqual([['0.5'], ['1'], ['2.4']])
  })

  it('for Wan 2.6 may have 2 to 15 seconds at 720p or 1080p', () => {
    const of = (changes: Partial<VideoRequest>) => () =>
      WAN.media({ ...plainRequest('wan2.6-t2v', []), ...changes }, 'wan2.6-t2v')
    expect(of({ seconds: 15, resolution: '1080p' })()).toMatchObject({ seconds: 15 })
    expect(of({ seconds: 2 })()).toMatchObject({ seconds: 2, resolution: '720p' })
    for (const changes of [{ seconds: 16 }, { seconds: 1 }, { resolution: '480p' }])
      expect(of(changes)).toThrow(TaskRequestError)
  })
})

describe('a request to Hailuo', () => {
  const mediaOf = (changes: Partial<VideoRequest>, images: readonly string[] = []) =>
    HAILUO.media({ ...plainRequest('Hailuo-3', images), ...changes }, 'Hailuo-3')

  it.each(['1080x1920', '768x768', '1440x1080'])(
    'for a video of %s is refused, because its API has no ratio',
    (size) => {
      expect(refusalOf(() => mediaOf({ size }))).toMatchObject({
        ...{ code: 'video_option_invalid' },
        params: { param: 'size', subject: '1366x768, 1920x1080' },
      })
      expect(() => mediaOf({ size, resolution: '768p' })).not.toThrow()
    },
  )

  it('may name the size of a landscape, and any size beside a picture', () => {
    for (const size of ['1366x768', '1360x768']) {
      expect(mediaOf({ size })).toMatchObject({ resolution: '768p' })
    }
    expect(mediaOf({ size: '1080x1920' }, [PICTURE])).toMatchObject({ resolution: '1080p' })
  })
})

describe('a request to Vidu', () => {
  const made = (model: string, changes: Partial<VideoRequest>) => {
    const request = { ...plainRequest(model, []), ...changes }
    const media = { size: null, ...VIDU.media(request, model) }
    return { media, ...VIDU.submit(request, media, { model, originId: null }) }
  }

  it.each([
    ['viduq3-pro', 16, 17],
    ['viduq3-turbo', 16, 17],
    ['viduq2', 10, 11],
  ])('for %s may have up to %d seconds, but not %d', (model, most, more) => {
    expect(made(model, { seconds: most }).body).toMatchObject({ duration: most })
    expect(() => made(model, { seconds: more })).toThrow(TaskRequestError)
  })

  it.each([
    ['viduq3-pro', null, true, ['audio']],
    ['viduq3-pro', true, true, ['audio']],
    ['viduq3-turbo', false, false, []],
    ['viduq2', true, undefined, []],
  ])('for %s with the sound %s sends %s and bills %j', (model, hasAudio, sent, options) => {
    const { body, media } = made(model, { hasAudio })
    expect([Reflect.get(body ?? {}, 'audio'), media.options]).toEqual([sent, options])
  })
})

describe('a request to Doubao', () => {
  const sent = (model: string, changes: Partial<VideoRequest>) => {
    const request = { ...plainRequest(model, []), ...changes }
    const media = { size: null, ...DOUBAO.media(request, model) }
    const { call } = submissionOf(DOUBAO, { request, platform: null, names: new Map() }, media, {
      ...{ model, originId: null },
    })
    return call.body as { content: readonly { text: string }[]; generate_audio?: boolean }
  }

  it.each([
    ['doubao-seedance-1-5-pro-251215', null, false],
    ['doubao-seedance-1-5-pro-251215', true, true],
    ['doubao-seedance-2-0', false, false],
    ['doubao-seedance-1-0-pro-250528', true, undefined],
    // An endpoint may run a model that makes sound, at twice the price, unless it is turned off.
    ['ep-2026', null, false],
    ['ep-2026', true, true],
  ])('for %s with the sound %s sends %s', (model, hasAudio, expected) => {
    expect(sent(model, { hasAudio }).generate_audio).toBe(expected)
  })

  it('has no command that forms when others are removed, and is read in linear time', () => {
    const nested = `x${'--cf'.repeat(900)}${' 1'.repeat(900)}`
    const begin = threadCpuMs()
    const { text = '' } = sent('ep-2026', { prompt: ' '.repeat(10_900) + nested }).content[0] ?? {}
    expect(threadCpuMs() - begin).toBeLessThan(1_000)
    expect(text).not.toContain('--')
    const [plain] = sent('ep-2026', { prompt: 'the sea -- at dawn --cf true' }).content
    expect(plain?.text).toBe('the sea -- at dawn')
  })
})

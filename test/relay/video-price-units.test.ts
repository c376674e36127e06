import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { unitPrice } from '#domain/pricing/charge.ts'
import { decimalText } from '#domain/pricing/decimal.ts'
import { VIDEO_PRICE_UNITS, type VideoRatios, videoPrice } from '#domain/pricing/video-prices.ts'
import { PROFILES, TASK_PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { TaskRequestError } from '#relay/tasks/read-task-request-body.ts'
import { VIDEO_VENDORS } from '#relay/tasks/videos/select-channels-and-build-video-request.ts'
import { videoPricingAt } from '#relay/tasks/videos/video-pricing.ts'
import type { VendorMedia, VideoRequest } from '#relay/tasks/videos/video-vendor.ts'
import { WAN } from '#relay/tasks/videos/wan.ts'

const unitsAt = (
  type: number,
  models: readonly string[],
  others: Partial<Pick<ChannelTerms, 'modelPrefix' | 'modelMapping'>> = {},
) =>
  Object.fromEntries(
    [...videoPricingAt({ type, models, ...NO_OTHERS, ...others })].map(([model, { unit }]) => [
      ...[model, unit],
    ]),
  )
const NO_OTHERS = { modelPrefix: '', modelMapping: '' }
const mappingOf = (mapping: Record<string, unknown>) => ({ modelMapping: JSON.stringify(mapping) })

describe('the unit of a price', () => {
  it.each([
    [1, 'sora-2'],
    [17, 'wan2.6'],
    [17, 'wanx2.1-t2v-turbo'],
    [24, 'veo-4'],
    [45, 'ep-seedance'],
    [50, 'any-name'],
  ])('is a second at channel type %i for %s, which is a video there', (type, model) => {
    expect(unitsAt(type, [model])).toEqual({ [model]: 'second' })
  })

  it.each([
    [17, 'wan2.2-t2i-plus'],
    [17, 'wan2.5-i2i-preview'],
    [17, 'wan2.6-image'],
    [17, 'wanx2.1-imageedit'],
    [17, 'qwen-max'],
    [14, 'wan2.6'],
    [1, 'wan2.6'],
    [1, 'kling-v2-6'],
    [2, 'mj_video'],
    [999, 'sora-2'],
  ])('is a call at channel type %i for %s, which is no video there', (type, model) => {
    expect(unitsAt(type, [model])).toEqual({})
  })

  it('is that of the whole video for the vendor that bills videos', () => {
    expect(unitsAt(35, ['MiniMax-Hailuo-02', 'T2V-01', 'abab6.5'])).toEqual({
      ...{ 'MiniMax-Hailuo-02': 'call', 'T2V-01': 'call' },
    })
  })

  it('follows the mapping of the channel, through all of its steps', () => {
    const mapping = mappingOf({ 'my-video': 'newest', newest: 'sora-2', 'my-chat': 'gpt-4o' })
    expect(unitsAt(1, ['my-video', 'my-chat'], mapping)).toEqual({ 'my-video': 'second' })
    // The name of a video that is mapped to a chat model is billed per call.
    expect(unitsAt(1, ['sora-2'], mappingOf({ 'sora-2': 'gpt-4o' }))).toEqual({})
  })

  it('is known by the name with the prefix of the channel, and mapped by the name without', () => {
    const terms = { modelPrefix: 'eu/', ...mappingOf({ film: 'sora-2' }) }
    expect(unitsAt(1, ['film', 'sora-2-pro', 'gpt-4o'], terms)).toEqual({
      ...{ 'eu/film': 'second', 'eu/sora-2-pro': 'second' },
    })
  })

  it.each([
    '',
    'null',
    '{',
    '[]',
    '"sora-2"',
    '{"film":null,"other":7}',
    '{"film":"other","other":"film"}',
  ])('follows from the name alone if the mapping is %j', (modelMapping) => {
    expect(unitsAt(1, ['film', 'sora-2'], { modelMapping })).toEqual({ 'sora-2': 'second' })
  })

  it('is the one by which a video is billed, at every channel type with videos', () => {
    const rows = [...PROFILES, ...TASK_PROFILES].flatMap(({ id, videos }) =>
      videos === undefined ? [] : [{ id, platform: VIDEO_VENDORS[videos.vendor].platform }],
    )
    expect(rows.length).toBeGreaterThan(10)
    const names = ['sora-3', 'wan2.6', 'veo-5', 'seedance-3', 'Hailuo-3', 'viduq9', 'kling-v9']
    for (const { id, platform } of rows) {
      for (const [model, unit] of Object.entries(unitsAt(id, names))) {
        const conditions = { resolution: null, seconds: 6, options: [] }
        const price = { mode: 'call', list: 0, price: '0.1', group: '1' } as const
        const billed = videoPrice(price, [model, model], platform, conditions)
        expect([id, model, unit]).toEqual([id, model, 'per' in billed ? 'second' : 'call'])
      }
    }
  })
})

describe('the ratios of a list of prices', () => {
  const rows = [...PROFILES, ...TASK_PROFILES].flatMap(({ id, videos }) =>
    videos === undefined ? [] : [{ id, vendor: VIDEO_VENDORS[videos.vendor] }],
  )
  const known = Object.keys(VIDEO_PRICE_UNITS)
  const unknown = ['sora-3', 'wan2.7-t2v', 'veo-5', 'seedance-3', 'Hailuo-3', 'vidu3', 'kling-v9']
  const request: VideoRequest = {
    ...{ action: 'TEXT_TO_VIDEO', model: '', prompt: 'x', negativePrompt: null, seconds: null },
    ...{ size: null, resolution: null, ratio: null, images: [], lastImage: null, seed: null },
    ...{ hasAudio: null, mode: null },
  }
  const price = { mode: 'call', list: 0, price: '1', group: '1' } as const

  const requests = [null, '360p', '480p', '512p', '540p', '720p', '768p', '1080p', '4k']
    .flatMap((resolution) => [null, 4, 6, 8, 10].map((seconds) => ({ resolution, seconds })))
    .flatMap((one) => [
      ...[one, { ...one, mode: 'pro' as const }, { ...one, hasAudio: true }],
      { ...one, mode: 'pro' as const, hasAudio: true },
    ])
  /** Sizes of Wan, whose resolution is not the shorter side. */
  const sizes = ['624x624', '960x960', '1088x832', '1440x1440'].map((size) => ({ size }))

  /** Computes the ratio of a video as a customer does. */
  const listedRatio = (listed: VideoRatios | null, media: VendorMedia): number => {
    if (listed === null) return 1
    const names = [`${media.resolution} ${media.seconds}s`, `${media.resolution}`]
    const [ofResolution] = names.flatMap((name) => listed.resolutions[name] ?? [])
    return media.options.reduce(
      (product, option) => product * (listed.options[option] ?? 1),
      ofResolution ?? listed.default.ratio,
    )
  }

  it('are those by which videos are billed, for each vendor, model and request', () => {
    const compared = new Set<string>()
    const all = rows.flatMap(({ id, vendor }) =>
      [...videoPricingAt({ type: id, models: [...known, ...unknown], ...NO_OTHERS })].map(
        ([model, { ratios }]) => ({ id, vendor, model, listed: ratios() }),
      ),
    )
    for (const { id, vendor, model, listed } of all) {
      for (const options of [{}, ...requests, ...(vendor === WAN ? sizes : [])]) {
        const media = offered(() => vendor.media({ ...request, ...options }, model))
        if (media === null) continue
        const billed = videoPrice(price, [model, model], vendor.platform, media)
        const factor = billed.mode === 'call' ? Number(decimalText(unitPrice(billed))) : 0
        const context = JSON.stringify([id, model, options])
        compared.add(context)
        expect(listedRatio(listed, media), context).toBeCloseTo(factor, 8)
        if (Object.keys(options).length === 0) {
          expect(listed?.default.ratio ?? 1, context).toBeCloseTo(factor, 8)
        }
      }
    }
    expect(compared.size).toBeGreaterThan(1_000)
  })
})

/** Returns the video of a request, or null if the vendor refuses it. */
function offered<Media>(media: () => Media): Media | null {
  try {
    return media()
  } catch (error) {
    if (error instanceof TaskRequestError) return null
    throw error
  }
}

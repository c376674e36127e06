import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { videoPrice } from '#domain/pricing/video-prices.ts'
import { PROFILES, TASK_PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { VIDEO_VENDORS } from '#relay/tasks/videos/select-channels-and-build-video-request.ts'
import { videoPriceUnits } from '#relay/views/video-price-units.ts'

const unitsAt = (
  type: number,
  models: readonly string[],
  others: Partial<Pick<ChannelTerms, 'modelPrefix' | 'modelMapping'>> = {},
) => Object.fromEntries(videoPriceUnits({ type, models, ...NO_OTHERS, ...others }))
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

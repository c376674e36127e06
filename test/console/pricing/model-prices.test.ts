import { describe, expect, it } from 'vitest'
import {
  costOf,
  exactRatioText,
  mediaPricesIn,
  modelAtLength,
  pricesIn,
  ratioTone,
  shortPriceText,
  shortRatioText,
  threeDecimalText,
  videoPricesIn,
} from '#console/features/pricing/model-prices.ts'
import { formatDecimal } from '#console/ui/quota/exact-decimal.ts'
import { byCall, byTokens } from './models.ts'

const shown = (ratio: number, completion: number, group: number) => {
  const prices = pricesIn(
    byTokens('m', { model_ratio: ratio, completion_ratio: completion }),
    group,
  )
  if (prices.mode !== 'tokens') throw new Error('priced by tokens')
  return [threeDecimalText(prices.input), threeDecimalText(prices.output)]
}

describe('a price per token', () => {
  it.each([
    [0.075, 4, 1, ['$0.150', '$0.600']],
    [1.25, 4, 0.8, ['$2.000', '$8.000']],
    // With floating-point numbers, these prices would be rounded in the other direction.
    [0.50025, 1, 1, ['$1.001', '$1.001']],
    [1.0005, 1, 0.5, ['$1.001', '$1.001']],
    [37.5, 8, 30, ['$2,250.000', '$18,000.000']],
    [1e-7, 1, 1, ['$0.000', '$0.000']],
    [0, 3, 1, ['$0.000', '$0.000']],
  ])('follows from ratio %s, completion %s and group %s', (ratio, completion, group, prices) => {
    expect(shown(ratio, completion, group)).toEqual(prices)
  })

  it('is exactly $20 when the completion ratio is 20/6 and the input price is $6', () => {
    const prices = pricesIn(byTokens('m', { model_ratio: 3, completion_ratio: 20 / 6 }), 1)
    expect(prices.mode === 'tokens' && formatDecimal(prices.output)).toBe('20')
  })

  it('costs group × model × (prompt + completion × completion ratio) / 500000 dollars', () => {
    const model = byTokens('m', { model_ratio: 1.25, completion_ratio: 4 })
    const cost = costOf(model, 0.8, { prompt: 1_000, completion: 500 })
    expect(formatDecimal(cost)).toBe('0.006')
  })

  it.each([
    [1_000, '0.0045'],
    [1_001, '0.008005'],
  ])('of a model with a tier costs, for %d tokens, $%s', (prompt, dollars) => {
    const context_tiers = [{ above_input_tokens: 1_000, input_ratio: 2, output_ratio: 1.5 }]
    const ratios = { model_ratio: 1.25, completion_ratio: 4, context_tiers }
    const model = modelAtLength(byTokens('m', ratios), prompt)
    expect(formatDecimal(costOf(model, 1, { prompt, completion: 200 }))).toBe(dollars)
  })
})

it.each([
  [0.04, 1, '$0.040'],
  [0.04, 0.8, '$0.032'],
  [0.0004, 0.5, '$0.0002'],
  [1_234, 1, '$1,234.000'],
])('a price per call of %s in a group with ratio %s is %s', (price, group, text) => {
  const prices = pricesIn(byCall('m', price), group)
  expect(prices.mode === 'call' && shortPriceText(prices.call)).toBe(text)
})

it.each([
  // 0.1 at the ratio 5/3, which the API sends with ten decimals
  [0.1, 1.6666666667, '$0.1667'],
  [0.000_04, 1.6666666667, '$0.00006667'],
  [1_234.5, 1 / 3, '$411.500'],
  [100, 1 / 3, '$33.333'],
  [0.123_456, 1, '$0.123456'],
])('a price per call of %s at the ratio %s is shown as %s', (price, group, text) => {
  const prices = pricesIn(byCall('m', price), group)
  expect(prices.mode === 'call' && shortPriceText(prices.call)).toBe(text)
})

it.each([
  [0.16666666667, '0.1667', '0.16666666667'],
  [1.6666666667, '1.667', '1.6666666667'],
  [2 / 3e5, '0.000006667', '0.000006666666666666667'],
  [1.0625, '1.0625', '1.0625'],
  [12, '12', '12'],
  [0, '0', '0'],
])('the ratio %s is shown as %s, and exactly as %s', (ratio, short, text) => {
  expect([shortRatioText(ratio), exactRatioText(ratio)]).toEqual([short, text])
})

it('a ratio above 5 is red, above 3 orange, above 1 blue, and others are green', () => {
  const tones = [0.5, 1, 1.1, 3, 3.1, 5, 5.1].map(ratioTone)
  expect(tones).toEqual(['good', 'good', 'info', 'info', 'warn', 'warn', 'bad'])
})

describe('the prices of the kinds of video', () => {
  const shownIn = (model: Parameters<typeof videoPricesIn>[0], group = 1) =>
    videoPricesIn(model, group).map(({ kind, name, ratio, price, isDefault }) => [
      ...[kind, name, ratio, shortPriceText(price), isDefault],
    ])

  it('name the default resolution and multiply the price by each ratio', () => {
    const video_ratios = {
      resolutions: { '480p': 1, '1080p': 3 },
      ...{ options: {}, default: { resolution: '1080p', options: [], ratio: 3 } },
    }
    expect(shownIn(byCall('wan', 0.05, { price_per: 'second', video_ratios }), 0.8)).toEqual([
      ['resolution', '480p', 1, '$0.040', false],
      ['resolution', '1080p', 3, '$0.120', true],
    ])
  })

  it('show an option with the default video, without digits of a rounded ratio', () => {
    const video_ratios = {
      ...{ resolutions: {}, options: { pro: 1.6666666667, audio: 2 } },
      default: { resolution: null, options: [], ratio: 1 },
    }
    expect(shownIn(byCall('kling', 0.042, { video_ratios }))).toEqual([
      ['usual', '', 1, '$0.042', true],
      ['pro', 'pro', 1.6666666667, '$0.070', false],
      ['audio', 'audio', 2, '$0.084', false],
    ])
  })

  it('name the length where the price depends on it', () => {
    const video_ratios = {
      resolutions: { '768p 6s': 1, '768p 10s': 2 },
      ...{ options: {}, default: { resolution: '768p 6s', options: [], ratio: 1 } },
    }
    expect(shownIn(byCall('hailuo', 0.28, { video_ratios }))).toEqual([
      ['resolution', '768p · 6 s', 1, '$0.280', true],
      ['resolution', '768p · 10 s', 2, '$0.560', false],
    ])
    expect(shownIn(byCall('image', 0.28))).toEqual([])
  })
})

describe('prices of audio and images', () => {
  const shownIn = (model: Parameters<typeof mediaPricesIn>[0], group = 1) =>
    mediaPricesIn(model, group).map(({ medium, input, output }) => [
      ...[medium, shortPriceText(input), shortPriceText(output)],
    ])

  it('are multiples of the price of text, and of the group ratio', () => {
    const media = { image_ratio: 1.25, audio_ratio: 8, audio_completion_ratio: 2 }
    const model = byTokens('gpt-realtime', { model_ratio: 2, completion_ratio: 4, ...media })
    expect(shownIn(model, 0.5)).toEqual([
      ['audio', '$16.000', '$32.000'],
      // Images in answers cost the same as text in answers.
      ['image', '$2.500', '$8.000'],
    ])
  })

  it('include those of audio in answers without a ratio, which costs the same as its input', () => {
    const model = byTokens('tts', { model_ratio: 2, completion_ratio: 4, audio_ratio: 8 })
    expect(shownIn(model)).toEqual([['audio', '$32.000', '$32.000']])
  })

  it('include those of images that only answers have', () => {
    const media = { model_ratio: 1, completion_ratio: 4, image_completion_ratio: 100 }
    expect(shownIn(byTokens('drawing', media))).toEqual([['image', '$2.000', '$200.000']])
  })

  it('are omitted if audio and images cost the same as text', () => {
    expect(shownIn(byTokens('chat'))).toEqual([])
  })
})

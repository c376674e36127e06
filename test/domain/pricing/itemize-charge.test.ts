import { describe, expect, it } from 'vitest'
import { chargeFor } from '#domain/pricing/charge.ts'
import { plus, times } from '#domain/pricing/decimal.ts'
import { itemizeCharge } from '#domain/pricing/itemize-charge.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'

/** A repeatable series of numbers (mulberry32). */
function numbers(seed: number): (max: number) => number {
  let state = seed
  return (max) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % (max + 1)
  }
}

const RATIOS = ['0', '0.075', '0.1', '1', '1.25', '2.5', '37.5', '0.333333333333']

function randomCase(next: (max: number) => number): [PriceSnapshot, Usage, number] {
  const ratio = () => RATIOS[next(RATIOS.length - 1)] ?? '1'
  const count = () => (next(2) === 0 ? 0 : next(300_000))
  const [outputAudio, outputImage, text] = [count(), count(), count()]
  const common = {
    list: 1,
    group: ratio(),
    ...(next(1) === 0 ? {} : { batch: '0.5' }),
    tools: { web_search: '10', file_search: '2.5' },
    conditions: { fast: '2.5', us_inference: '1.1' },
  }
  const price: PriceSnapshot =
    next(2) > 0
      ? {
          mode: 'tokens',
          model: ratio(),
          completion: ratio(),
          cacheRead: ratio(),
          cacheWrite: ratio(),
          image: ratio(),
          audio: ratio(),
          audioCompletion: ratio(),
          ...(next(1) === 0 ? {} : { imageCompletion: ratio() }),
          tiers: [{ above: 200_000, input: '2', output: '1.5' }],
          ...common,
        }
      : {
          mode: 'call',
          price: ratio(),
          ...(next(1) === 0 ? {} : { factors: [{ name: '1080p', ratio: '1.7' }] }),
          ...(next(2) === 0 ? { per: 'second' as const } : {}),
          ...(next(2) === 0 ? { imageFactor: '2' } : {}),
          ...common,
        }
  const usage: Usage = {
    ...NO_USAGE,
    ...{ inputUncached: count(), cacheRead: count(), cacheWrite5m: count() },
    ...{ cacheWrite1h: count(), inputAudio: count(), inputImage: count() },
    ...{ output: outputAudio + outputImage + text, outputAudio, outputImage, seconds: next(9) },
    ...(next(1) === 0 ? {} : { tools: { web_search: next(5), x_search: 3 }, toolCalls: 3 }),
    ...(next(1) === 0 ? {} : { conditions: ['fast'] as const }),
  }
  return [price, usage, next(4)]
}

const decimal = (text: string) => {
  const [whole = '', fraction = ''] = text.split('.')
  return { units: BigInt(whole + fraction), scale: fraction.length }
}

describe('the items of a charge', () => {
  it('sum to exactly the charge, for any price and usage', () => {
    const next = numbers(20)
    for (let n = 0; n < 3_000; n += 1) {
      const [price, usage, calls] = randomCase(next)
      const { items, sum, charge } = itemizeCharge(price, usage, calls)
      expect(charge).toBe(chargeFor(price, usage, calls))
      let total = decimal('0')
      for (const item of items) {
        const product = times(times(decimal(item.units), decimal(item.price)), decimal(item.ratio))
        const apart = plus(product, { ...decimal(item.amount), units: -decimal(item.amount).units })
        expect(apart.units).toBe(0n)
        total = plus(total, decimal(item.amount))
      }
      expect(plus(total, { ...decimal(sum), units: -decimal(sum).units }).units).toBe(0n)
    }
  })

  it('show price and ratio of each kind of token apart', () => {
    const price: PriceSnapshot = {
      ...{ mode: 'tokens', list: 3, model: '1.25', completion: '4', cacheRead: '0.5' },
      ...{ cacheWrite: '1.25', image: '1', audio: '1', audioCompletion: '1', group: '0.8' },
    }
    const usage = { ...NO_USAGE, inputUncached: 100, cacheRead: 10, output: 7 }
    expect(itemizeCharge(price, usage)).toEqual({
      items: [
        { item: 'inputUncached', units: '100', price: '1.25', ratio: '0.8', amount: '100' },
        { item: 'cacheRead', units: '10', price: '0.625', ratio: '0.8', amount: '5' },
        { item: 'output', units: '7', price: '5', ratio: '0.8', amount: '28' },
      ],
      sum: '133',
      charge: 133n,
    })
  })

  it('show the size of an image or a video in the ratio, and the listed price', () => {
    const price = { mode: 'call', list: 1, price: '0.04', group: '0.5' } as const
    const usage = { ...NO_USAGE, images: 2, seconds: 8 }
    expect(itemizeCharge({ ...price, imageFactor: '3' }, usage, 2).items).toEqual([
      { item: 'images', units: '2', price: '20000', ratio: '1.5', amount: '60000' },
    ])
    const factors = [{ name: '1080p', ratio: '1.7' }]
    expect(itemizeCharge({ ...price, per: 'second', factors }, usage, 1).items).toEqual([
      { item: 'seconds', units: '8', price: '20000', ratio: '0.85', amount: '136000' },
    ])
  })

  it('of a free call are those of its usage, at the amount 0', () => {
    const price: PriceSnapshot = { mode: 'call', list: 1, price: '0', group: '1' }
    expect(itemizeCharge(price, NO_USAGE, 1)).toEqual({
      items: [{ item: 'calls', units: '1', price: '0', ratio: '1', amount: '0' }],
      sum: '0',
      charge: 0n,
    })
  })
})

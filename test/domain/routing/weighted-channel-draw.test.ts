import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Candidate,
  offersOf,
  type RoutingTerms,
} from '#domain/routing/channels-by-group-and-model.ts'
import { ChannelDraw } from '#domain/routing/weighted-channel-draw.ts'
import { budget } from '#test/support/time-limit.ts'

type Channel = Candidate & { readonly id: string }

const WANTED = { model: 'm', group: 'default' }
const channel = (id: string, terms: Partial<RoutingTerms> = {}): Channel => ({
  id,
  terms: {
    models: ['m'],
    modelPrefix: '',
    groups: ['default'],
    priority: 0,
    weight: 0,
    ...terms,
  },
})
const ids = (channels: readonly Channel[]): string => channels.map(({ id }) => id).join('')
const first = () => 0
const always = () => true

/** Returns all channels in the order in which they are drawn. */
function channelsToTry(
  channels: readonly Channel[],
  { model, group }: typeof WANTED,
  random: () => number,
  isFit: (channel: Channel) => boolean = always,
): Channel[] {
  const offer = offersOf(channels).get(group)?.get(model) ?? []
  const draw = new ChannelDraw(offer, isFit, random)
  const order: Channel[] = []
  for (let next = draw.next(); next !== null; next = draw.next()) order.push(next)
  return order
}

/**
 * A pseudorandom sequence that is the same in every run (mulberry32), so that the shares never
 * differ by chance.
 */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns how often each order was drawn. */
function drawn(channels: readonly Channel[], times: number): Map<string, number> {
  const random = seeded(42)
  const orders = new Map<string, number>()
  for (let n = 0; n < times; n += 1) {
    const order = ids(channelsToTry(channels, WANTED, random))
    orders.set(order, (orders.get(order) ?? 0) + 1)
  }
  return orders
}

describe('the channels to try for a call', () => {
  it('are those that offer the model to the group', () => {
    const channels = [
      channel('a', { models: ['other'] }),
      channel('b', { groups: ['vip'] }),
      channel('c', { models: ['x', 'm'], groups: ['vip', 'default'] }),
      channel('d', { models: [] }),
      channel('e', { groups: [] }),
    ]
    expect(ids(channelsToTry(channels, WANTED, first))).toBe('c')
    expect(channelsToTry([], WANTED, first)).toEqual([])
  })

  it('are found by the model name that callers use, including its prefix', () => {
    const prefixed = channel('a', { modelPrefix: 'pre-' })
    expect(channelsToTry([prefixed], WANTED, first)).toEqual([])
    expect(channelsToTry([prefixed], { ...WANTED, model: 'pre-m' }, first)).toEqual([prefixed])
  })

  it('match names exactly and case-sensitively, and ignore object properties', () => {
    for (const model of ['M', 'm ', '', 'constructor', '__proto__']) {
      expect(channelsToTry([channel('a')], { ...WANTED, model }, first)).toEqual([])
    }
    for (const group of ['Default', '', 'constructor', '__proto__']) {
      expect(channelsToTry([channel('a')], { ...WANTED, group }, first)).toEqual([])
    }
  })

  it('are tried from high to low priority, whatever the weights', () => {
    const channels = [
      channel('c', { priority: -5, weight: 9 }),
      channel('a', { priority: 10 }),
      channel('b', { priority: 2, weight: 1 }),
    ]
    for (const order of drawn(channels, 50).keys()) expect(order).toBe('abc')
  })

  it('are drawn in the exact order that the random numbers determine', () => {
    const channels = [
      channel('a', { weight: 1 }),
      channel('b', { weight: 2 }),
      channel('c', { weight: 1 }),
    ]
    const by = (...numbers: number[]) =>
      ids(channelsToTry(channels, WANTED, () => numbers.shift() ?? 0))
    expect(by(0, 0)).toBe('abc')
    expect(by(0.2499, 0.6667)).toBe('acb')
    expect(by(0.25, 0)).toBe('bac')
    expect(by(0.7499, 0.5)).toBe('bca')
    expect(by(0.75, 0.3333)).toBe('cab')
    expect(by(0.999999, 0.3334)).toBe('cba')
  })

  it('contain each channel once, and the draw does not change its input', () => {
    const terms = fc.record({ priority: fc.integer({ min: -2, max: 2 }), weight: fc.nat(5) })
    const property = fc.property(fc.array(terms, { maxLength: 12 }), fc.integer(), (all, seed) => {
      const channels = all.map((each, n) => channel(String.fromCharCode(97 + n), each))
      const order = channelsToTry(channels, WANTED, seeded(seed))
      expect([...order].sort((left, right) => (left.id < right.id ? -1 : 1))).toEqual(channels)
      const tiers = order.map(({ terms: { priority } }) => priority)
      expect(tiers).toEqual([...tiers].sort((left, right) => right - left))
      order.slice(1).forEach((next, n) => {
        const before = order[n]?.terms
        const isSameTier = before?.priority === next.terms.priority
        if (isSameTier && before?.weight === 0) expect(next.terms.weight).toBe(0)
      })
    })
    fc.assert(property)
  })
})

describe('the shares of channels of one priority', () => {
  const TIMES = 40_000
  /** Five standard deviations of a share of this many draws: one failure in two million. */
  const tolerance = (share: number): number => 5 * Math.sqrt((share * (1 - share)) / TIMES)
  const expectShare = (count: number | undefined, share: number): void => {
    expect(Math.abs((count ?? 0) / TIMES - share)).toBeLessThan(tolerance(share))
  }
  const firsts = (orders: Map<string, number>, id: string): number =>
    [...orders].reduce((sum, [order, count]) => (order.startsWith(id) ? sum + count : sum), 0)

  it('match the weights for the first channel, and again for the remaining ones', () => {
    const channels = [
      channel('a', { weight: 5 }),
      channel('b', { weight: 3 }),
      channel('c', { weight: 2 }),
    ]
    const orders = drawn(channels, TIMES)
    expectShare(firsts(orders, 'a'), 0.5)
    expectShare(firsts(orders, 'b'), 0.3)
    expectShare(firsts(orders, 'c'), 0.2)
    expectShare(orders.get('abc'), 0.5 * (3 / 5))
    expectShare(orders.get('acb'), 0.5 * (2 / 5))
    expectShare(orders.get('cba'), 0.2 * (3 / 8))
  })

  it('are equal if all weights are 0, so every order is equally likely', () => {
    const orders = drawn([channel('a'), channel('b'), channel('c')], TIMES)
    expect(orders.size).toBe(6)
    for (const count of orders.values()) expectShare(count, 1 / 6)
  })

  it('put channels of weight 0 last, with equal shares among them', () => {
    const channels = [channel('a'), channel('b', { weight: 1 }), channel('c')]
    const orders = drawn(channels, TIMES)
    expect([...orders.keys()].sort()).toEqual(['bac', 'bca'])
    for (const count of orders.values()) expectShare(count, 1 / 2)
  })

  it('do not depend on the weights of another priority', () => {
    const channels = [
      channel('a', { priority: 1, weight: 1 }),
      channel('b', { priority: 1, weight: 1 }),
      channel('c', { weight: 1_000_000 }),
    ]
    const orders = drawn(channels, TIMES)
    expectShare(orders.get('abc'), 1 / 2)
    expectShare(orders.get('bac'), 1 / 2)
  })
})

describe('channels that are not available', () => {
  const many = Array.from({ length: 200 }, (_, n) =>
    channel(`${n}`, { weight: n % 3, priority: n % 2 }),
  )

  it('are skipped; the others keep their priority order and their shares', () => {
    const channels = [
      channel('a', { weight: 5 }),
      channel('b', { weight: 3 }),
      channel('c', { weight: 1 }),
    ]
    const random = seeded(7)
    let firstB = 0
    for (let n = 0; n < 20_000; n += 1) {
      const order = ids(channelsToTry(channels, WANTED, random, ({ id }) => id !== 'a'))
      expect(order).toHaveLength(2)
      if (order === 'bc') firstB += 1
    }
    expect(Math.abs(firstB / 20_000 - 3 / 4)).toBeLessThan(0.02)
  })

  it('do not hide other channels or change their priority, whatever their number', () => {
    const property = fc.property(fc.uniqueArray(fc.nat(199)), fc.integer(), (unfit, seed) => {
      const isFit = ({ id }: Channel) => !unfit.includes(Number(id))
      const order = channelsToTry(many, WANTED, seeded(seed), isFit)
      expect(new Set(order).size).toBe(order.length)
      expect(order.length).toBe(200 - unfit.length)
      const tiers = order.map(({ terms: { priority } }) => priority)
      expect(tiers).toEqual([...tiers].sort((left, right) => right - left))
    })
    fc.assert(property, { numRuns: 60 })
  })

  it('do not slow the draw from 1,000 channels beyond 50 µs', () => {
    const channels = Array.from({ length: 1_000 }, (_, n) => channel(`${n}`, { weight: n % 7 }))
    const offer = offersOf(channels).get('default')?.get('m') ?? []
    const microseconds = (isFit: (channel: Channel) => boolean): number => {
      const times = Array.from({ length: 2_000 }, () => {
        const start = performance.now()
        const draw = new ChannelDraw(offer, isFit, Math.random)
        for (let n = 0; n < 4; n += 1) draw.next()
        return performance.now() - start
      }).sort((left, right) => left - right)
      return (times[1_000] ?? 0) * 1_000
    }
    expect(microseconds(always)).toBeLessThan(budget(50))
    expect(microseconds(({ terms }) => terms.weight === 6)).toBeLessThan(budget(50))
  })
})

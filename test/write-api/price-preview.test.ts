import { beforeAll, describe, expect, it } from 'vitest'
import { chargeFor } from '#domain/pricing/charge.ts'
import { createDraftPricer } from '#domain/pricing/charge-at-draft-prices.ts'
import { readPriceList } from '#domain/pricing/price-list.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { aCall, appendTo, interruptedCall, settledCall } from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { PricePreview } from '#write-api/contract/options.ts'
import { previewDraft } from '#write-api/options/preview-charges-at-draft-prices.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
/** An hour within the range, in Unix seconds. */
let hour: number

const PRICE = { model: '1.25', completion: '4', cacheRead: '0.5', cacheWrite: '1.25' }
const snapshot = (patch: object = {}) => ({
  mode: 'tokens' as const,
  list: 1,
  ...PRICE,
  image: '1',
  audio: '1',
  audioCompletion: '1',
  group: '1',
  ...patch,
})
const USAGE = { ...NO_USAGE, inputUncached: 400, cacheRead: 600, output: 500 }

const VIDEO = {
  price: {
    ...{ mode: 'call', list: 1, price: '0.1', group: '1', per: 'second' },
    factors: [{ name: '1080p', ratio: '3' }],
  },
  usage: { ...NO_USAGE, seconds: 8 },
  charge: 1_200_000,
}

const SOUND = {
  price: snapshot({ conditions: { audio: '2' } }),
  usage: { ...NO_USAGE, output: 500, conditions: ['audio'] },
  charge: 5_000,
}

beforeAll(async () => {
  hour = Math.floor(fixture.core.now() / 1_000) - 2 * 3_600
  const price = snapshot()
  const charge = Number(chargeFor(price, USAGE))
  const of = (userId: number, model: string, patch: object = {}, at = hour) => {
    const given = settledCall(aCall({ userId, model }), charge, at * 1_000)
    return { ...given, data: { ...given.data, usage: USAGE, price, ...patch } }
  }
  const special = snapshot({ group: '0.5', userGroup: 'vip' })
  const specialCharge = Number(chargeFor(special, USAGE))
  const long = interruptedCall(aCall({ userId: 3, model: 'draft-a' }), 0)
  const position = await appendTo(fixture.core.store, [
    of(2, 'draft-a'),
    of(2, 'draft-a'),
    of(3, 'draft-a'),
    of(3, 'draft-b', { price: special, charge: specialCharge }),
    of(3, 'draft-per-call', { calls: 3 }),
    of(3, 'draft-a', {}, hour - 8 * 86_400),
    of(3, 'draft-video', VIDEO, hour - 20 * 86_400),
    of(3, 'draft-sound', SOUND, hour - 20 * 86_400),
    of(3, 'draft-a', { batch: { id: 'b', lines: 9 }, billedLines: 8 }, hour - 20 * 86_400),
    { ...long, at: hour * 1_000, data: { ...long.data, price, usage: NO_USAGE } },
  ])
  // Each read waits for the position for two seconds at most.
  const headers = { 'x-after-position': String(position) }
  for (let n = 0; n < 5; n += 1) await fixture.root.call('GET', '/api/log/', { headers })
  const ratios = '{"draft-a":1.25,"draft-b":1.25,"draft-per-call":1.25}'
  const set = (key: string, value: string) =>
    fixture.root.call('PUT', '/api/option/', { body: { key, value } })
  await set('ModelRatio', ratios)
  await set('CompletionRatio', ratios.replaceAll('1.25', '4'))
  await set('CacheRatio', ratios.replaceAll('1.25', '0.5'))
  await set('CreateCacheRatio', ratios)
  await set('GroupGroupRatio', '{"vip":{"default":0.5}}')
})

const preview = (body: object, call = fixture.admin.call) =>
  call<PricePreview>('POST', '/api/option/price_preview', { body })

describe('a preview of batches and videos', () => {
  const draft = createDraftPricer(
    readPriceList(
      new Map([
        ['ModelRatio', '{"lines":1.25}'],
        ['CompletionRatio', '{"lines":4}'],
        ['CacheRatio', '{"lines":0.5}'],
        ['ModelPrice', '{"video":0.1,"line":0.01}'],
        ['BatchRatio', '0.4'],
      ]),
      1,
    ),
  )
  const past = (patch: object) =>
    draft({ model: 'lines', group: 'default', userGroup: 'default', usage: USAGE, ...patch }, false)

  it('applies the ratio of batches to the sum of the lines, or to each call', () => {
    const full = Number(past({}))
    expect(Number(past({ batchLines: 20 }))).toBe(Math.round(full * 0.4))
    expect(past({ model: 'line', batchLines: 10_000 })).toBe(20_000_000n)
    // A line may have several images, and each costs the price times the factor of its size.
    const usage = { ...NO_USAGE, images: 3 }
    expect(past({ model: 'line', batchLines: 2, usage, imageFactor: '2' })).toBe(12_000n)
  })

  it('applies the unit and the ratios of a video', () => {
    const video = { per: 'second' as const, factors: [{ name: '1080p', ratio: '3' }] }
    const usage = { ...NO_USAGE, seconds: 8 }
    expect(past({ model: 'video', usage, video })).toBe(1_200_000n)
  })

  it('multiplies a video by the ratio of its sound once, and by that of its own charge', () => {
    const usage = { ...NO_USAGE, seconds: 8, output: 1_000, conditions: ['audio'] as const }
    const factors = [{ name: 'audio', ratio: '2' }]
    const video = { per: 'second' as const, factors }
    const perSecond = { model: 'doubao-seedance-1-5-pro', usage, video }
    const ofModel = createDraftPricer(
      readPriceList(new Map([['ModelPrice', '{"doubao-seedance-1-5-pro":0.1}']]), 1),
    )
    const place = { group: 'default', userGroup: 'default' }
    expect(ofModel({ ...perSecond, ...place }, false)).toBe(800_000n)
    // The called name is mapped to a model with sound, whose name the past call does not have.
    const perToken = past({ usage: { ...NO_USAGE, output: 1_000 } }) ?? 0n
    const sounding = { ...usage, seconds: 0 }
    expect(past({ usage: sounding, soundRatio: '2' })).toBe(2n * perToken)
    expect(past({ usage: sounding, soundRatio: null })).toBe(perToken)
  })

  it('reads all of them from the log', async () => {
    const ratios = {
      ModelRatio: '{"draft-a":2.5,"draft-sound":1}',
      ModelPrice: '{"draft-video":0.2}',
    }
    const list = readPriceList(new Map([...Object.entries(ratios), ['BatchRatio', '0.1']]), 1)
    const range = { from: hour - 20 * 86_400 - 60, to: hour - 20 * 86_400 + 60 }
    const { models } = await previewDraft(fixture.core, list, range)
    const drafted = new Map(models.map((row) => [row.model, row.drafted]))
    expect(drafted.get('draft-video')).toBe(2_400_000)
    // (400 + 600 + 500) · 2.5 · 0.1, with the default ratios of output and cache.
    expect(drafted.get('draft-a')).toBe(375)
    expect(drafted.get('draft-sound')).toBe(2 * 500)
  })
})

describe('a preview of a draft price list', () => {
  it('equals the actual charges for the current prices, and writes nothing', async () => {
    const head = await fixture.head()
    const { data, success } = await preview({ prices: {} })
    expect(success).toBe(true)
    const charge = Number(chargeFor(snapshot(), USAGE))
    const special = Number(chargeFor(snapshot({ group: '0.5' }), USAGE))
    expect(data).toMatchObject({
      calls: 6,
      charged: charge * 4 + special,
      drafted: charge * 4 + special,
      refused: 0,
      is_complete: true,
    })
    expect(await fixture.head()).toBe(head)
  })

  it('shows the difference by model, by user and in total', async () => {
    const { data } = await preview({
      prices: {
        ModelRatio: '{"draft-a":2.5,"draft-b":1.25}',
        ModelPrice: '{"draft-per-call":0.01}',
        GroupGroupRatio: '{"vip":{"default":0.25}}',
      },
    })
    const charge = Number(chargeFor(snapshot(), USAGE))
    const special = Number(chargeFor(snapshot({ group: '0.5' }), USAGE))
    const models = new Map(data.models.map((row) => [row.model, row]))
    expect(models.get('draft-a')).toMatchObject({
      calls: 4,
      charged: charge * 3,
      drafted: charge * 6,
    })
    expect(models.get('draft-b')).toMatchObject({ charged: special, drafted: special / 2 })
    expect(models.get('draft-per-call')).toMatchObject({ charged: charge, drafted: 15_000 })
    const users = new Map(data.users.map((row) => [row.username, row]))
    expect(users.get('admin1')).toMatchObject({
      calls: 2,
      charged: charge * 2,
      drafted: charge * 4,
    })
    const sum = (rows: readonly { drafted: number }[]) =>
      rows.reduce((total, row) => total + row.drafted, 0)
    expect([sum(data.models), sum(data.users)]).toEqual([data.drafted, data.drafted])
  })

  it('counts the calls separately that the draft has no price for', async () => {
    const { data } = await preview({ prices: { ModelRatio: '{"draft-b":1.25}' } })
    expect(data.models.find(({ model }) => model === 'draft-a')).toMatchObject({
      calls: 4,
      refused: 4,
      drafted: 0,
    })
  })

  it('covers the last seven days or the given range', async () => {
    expect((await preview({ prices: {} })).data.calls).toBe(6)
    const { data } = await preview({
      prices: {},
      start_timestamp: hour - 9 * 86_400,
      end_timestamp: hour - 7 * 86_400,
    })
    expect(data.calls).toBe(1)
    const none = await preview({ prices: {}, start_timestamp: hour + 1, end_timestamp: hour + 9 })
    expect(none.data).toMatchObject({ calls: 0, charged: 0, models: [], users: [] })
  })

  it('reports how far it came, in whole hours, when it runs out of time', async () => {
    const list = readPriceList(new Map(), 1)
    const range = { from: hour - 3_600, to: hour + 3_600 }
    const cut = await previewDraft(fixture.core, list, range, -1)
    expect(cut).toMatchObject({ calls: 0, is_complete: false, end_timestamp: range.from - 1 })
    expect(fromWire(cut.charged)).toBe(0n)
  })

  it.each([
    [{ prices: { ModelRatio: '{"a":' } }, 400, 'InvalidOption'],
    [{ prices: { ModelRatio: '{"a":"1"}' } }, 400, 'InvalidOption'],
    [{ prices: { SystemName: 'x' } }, 400, 'UnknownOption'],
    [{ prices: { __proto__x: '{}' } }, 400, 'UnknownOption'],
    [{ prices: { ModelRatio: 1 } }, 400, 'InvalidField'],
    [{}, 400, 'InvalidField'],
    [{ prices: {}, start_timestamp: 1, end_timestamp: 90 * 86_400 }, 400, 'InvalidField'],
    [{ prices: {}, start_timestamp: 9, end_timestamp: 8 }, 400, 'InvalidField'],
    [{ prices: {}, start_timestamp: '9' }, 400, 'InvalidField'],
  ])('refuses %j', async (body, status, code) => {
    expect(await preview(body)).toMatchObject({ status, success: false, code })
  })
})

import type { CommonQueryMethods } from 'slonik'
import { describe, expect, it, vi } from 'vitest'
import type { MappedModels } from '#projections/channels/query.ts'
import { createPriceUnitReader } from '#read-api/pricing/price-unit-reader.ts'
import { createSharedReads } from '#read-api/pricing/shared-reads.ts'

const VIDEO_TYPE = 50
const NOW = 1_000
const PER_SECOND = { unit: 'second', countsTokens: false, ratios: () => null } as const

/** Channels in a table that a rebuild can replace. The queries for rows end one by one. */
function site() {
  const rows = new Map<number, MappedModels>()
  const running: { readonly after: number; readonly end: () => void }[] = []
  const parsed: number[] = []
  let state = { table: 1, position: -1 }
  let isHeld = false
  const db = {
    one: async () => state,
    any: async ({ values: [after] }: { readonly values: readonly number[] }) => {
      const found = [...rows.values()].filter((row) => row.changedPosition > (after ?? 0))
      const { promise, resolve } = Promise.withResolvers<void>()
      running.push({ after: after ?? 0, end: resolve })
      if (!isHeld) resolve()
      await promise
      return found
    },
  }
  const read = createPriceUnitReader({
    db: db as unknown as CommonQueryMethods,
    servedTypes: [1, VIDEO_TYPE],
    // A channel bills by the second what it maps to a film.
    videoPricingAt: ({ type, models, modelMapping }) => {
      parsed.push(type)
      const isVideo = type === VIDEO_TYPE && modelMapping === 'film'
      return new Map(isVideo ? models.map((model) => [model, PER_SECOND]) : [])
    },
  })
  /** Changes a channel without the event that a read model would need for it. */
  const replace = (id: number, channel: Partial<MappedModels>): void => {
    const row = { id, changedPosition: state.position, ...DEFAULTS, ...rows.get(id), ...channel }
    rows.set(id, row)
  }
  const change = (id: number, channel: Partial<MappedModels>): void => {
    state = { ...state, position: state.position + 1 }
    replace(id, { ...channel, changedPosition: state.position })
  }
  const rebuild = (position = state.position): void => {
    state = { table: state.table + 1, position }
  }
  const hold = (): void => {
    isHeld = true
  }
  const restore = (position: number): void => {
    state = { ...state, position }
    for (const row of rows.values()) if (row.changedPosition > position) rows.delete(row.id)
  }
  const unitsOf = async (model: string, groups = ['default'], types?: readonly number[]) => {
    const filter = { groups, now: NOW, ...(types === undefined ? {} : { types }) }
    const units = (await read()).unitsByGroup(model, filter)
    return Object.fromEntries([...units].map(([group, ofGroup]) => [group, [...ofGroup].sort()]))
  }
  return { running, parsed, read, change, replace, rebuild, restore, hold, unitsOf }
}

const DEFAULTS = {
  ...{ type: VIDEO_TYPE, models: ['clip'], modelPrefix: '', modelMapping: 'film' },
  ...{ groups: ['default'], isEnabled: true, expiredTime: 0, isDeleted: false },
}

describe('reader of the units of prices', () => {
  it('gives fifty callers at once two reads, and each the change before it', async () => {
    const { change, hold, running, unitsOf } = site()
    change(1, { modelMapping: 'film' })
    hold()
    const first = unitsOf('clip')
    await expect.poll(() => running.length).toBe(1)
    change(1, { modelMapping: '' })
    const later = Array.from({ length: 50 }, () => unitsOf('clip'))
    // The second read would end before the first if they were not in sequence.
    running[1]?.end()
    running[0]?.end()
    await first
    await expect.poll(() => running.length).toBe(2)
    running[1]?.end()
    for (const units of await Promise.all(later)) expect(units).toEqual({})
    expect(running.map(({ after }) => after)).toEqual([-1, 0])
  })

  it('reads and parses only the channels that have changed', async () => {
    const { change, parsed, running, unitsOf } = site()
    for (const id of [1, 2, 3]) change(id, {})
    expect(await unitsOf('clip')).toEqual({ default: ['second'] })
    expect(parsed.length).toBe(3)
    await unitsOf('clip')
    expect(running.length).toBe(1)
    change(2, { modelMapping: '' })
    expect(await unitsOf('clip')).toEqual({ default: ['call', 'second'] })
    expect(parsed.length).toBe(4)
  })

  it('counts only channels that are usable, of the given groups and types', async () => {
    const { change, read, unitsOf } = site()
    change(1, { groups: ['default', 'inner'] })
    change(2, { type: 1, groups: ['inner'] })
    change(3, { type: 1, expiredTime: NOW })
    change(4, { type: 1, isEnabled: false })
    change(5, { type: 99 })
    expect(await unitsOf('clip')).toEqual({ default: ['second'] })
    const both = { default: ['second'], inner: ['call', 'second'] }
    expect(await unitsOf('clip', ['default', 'inner'])).toEqual(both)
    expect(await unitsOf('clip', ['inner'], [1])).toEqual({ inner: ['call'] })
    // A price is entered before its channel is enabled.
    expect((await read()).unitsUnlikeNames()).toEqual({ clip: ['call', 'second'] })
    for (const id of [1, 2, 3, 4]) change(id, { isDeleted: true })
    expect(await unitsOf('clip')).toEqual({})
    expect((await read()).unitsUnlikeNames()).toEqual({})
  })

  it('tells what the usable channels of each group do with a model that is a video', async () => {
    const { change, read } = site()
    change(1, { groups: ['default', 'inner'] })
    change(2, { type: 1, groups: ['inner'] })
    change(3, { type: 1, isEnabled: false })
    change(4, { type: 1, models: ['plain'] })
    const filter = { groups: ['default', 'inner', 'vip'], now: NOW }
    const uses = (await read()).videoUseByGroup('clip', filter)
    expect([...uses]).toEqual([
      ['default', { pricings: new Set([PER_SECOND]), hasCalls: false }],
      ['inner', { pricings: new Set([PER_SECOND]), hasCalls: true }],
    ])
    expect((await read()).videoUseByGroup('plain', filter).size).toBe(0)
    change(1, { isDeleted: true })
    expect((await read()).videoUseByGroup('clip', filter).size).toBe(0)
  })

  it('lists the models whose channels bill another unit than their name tells', async () => {
    const { change, read } = site()
    change(1, { models: ['sora-2', 'clip'] })
    change(2, { type: 1, models: ['kling-v2-6', 'gpt-4o', '__proto__'] })
    const units = (await read()).unitsUnlikeNames()
    expect(units).toEqual({ clip: ['second'], 'kling-v2-6': ['call'] })
  })

  it('reads all channels again after a rebuild, and after events were restored', async () => {
    const { change, rebuild, replace, restore, unitsOf } = site()
    change(1, { modelMapping: '' })
    change(2, { models: ['other'] })
    expect(await unitsOf('clip')).toEqual({})
    replace(1, { modelMapping: 'film' })
    rebuild()
    expect(await unitsOf('clip')).toEqual({ default: ['second'] })
    restore(0)
    expect(await unitsOf('other')).toEqual({})
    change(3, { models: ['other'] })
    expect(await unitsOf('other')).toEqual({ default: ['second'] })
  })

  it('tells whether a channel makes videos, also a disabled one, until it is deleted', async () => {
    const { change, read } = site()
    const hasVideos = async () => (await read()).hasVideos
    change(1, { modelMapping: 'chat' })
    expect(await hasVideos()).toBe(false)
    change(2, { isEnabled: false, expiredTime: NOW - 1 })
    expect(await hasVideos()).toBe(true)
    change(2, { isDeleted: true })
    expect(await hasVideos()).toBe(false)
  })

  it('finds the units of models and groups by the thousand without their product', async () => {
    const { change, unitsOf } = site()
    const numbers = Array.from({ length: 20_000 }, (_, n) => n)
    const models = numbers.map((n) => `m${n}`)
    change(1, { models, groups: numbers.slice(0, 4_000).map((n) => `g${n}`) })
    expect(await unitsOf('m19999', ['g3999', 'default'])).toEqual({ g3999: ['second'] })
  })

  it('looks at few of a thousand channels that bill a video alike', async () => {
    const { change, read } = site()
    const groups = ['default', 'inner']
    for (let id = 1; id <= 1_000; id += 1) change(id, { groups })
    change(1_001, { groups: ['vip'] })
    const index = await read()
    // The index compares the type of each channel that it looks at.
    const types = [VIDEO_TYPE]
    const looks = vi.spyOn(types, 'includes')
    const uses = index.videoUseByGroup('clip', { groups, types, now: NOW })
    expect([...uses.keys()]).toEqual(groups)
    expect(looks).toHaveBeenCalledTimes(1)
  })
})

describe('shared reads', () => {
  it('a running read and its error reach only callers it is enough for', async () => {
    const reads: PromiseWithResolvers<string>[] = []
    let position = 5
    const read = createSharedReads(
      () => {
        const result = Promise.withResolvers<string>()
        reads.push(result)
        return result.promise
      },
      () => position,
    )
    const from = (needed: number) => read((began) => began >= needed)
    const early = [from(5), from(3)]
    position = 6
    const late = Array.from({ length: 50 }, () => from(6))
    expect(reads.length).toBe(1)
    reads[0]?.reject(new Error('the connection is lost'))
    for (const result of await Promise.allSettled(early)) expect(result.status).toBe('rejected')
    await expect.poll(() => reads.length).toBe(2)
    reads[1]?.resolve('new')
    expect(new Set(await Promise.all(late))).toEqual(new Set(['new']))
    expect(reads.length).toBe(2)
  })
})

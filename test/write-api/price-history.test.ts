import { describe, expect, it } from 'vitest'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import type { OptionChange, PriceChange, ScheduledChange } from '#read-api/contract/options.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  applyDuePrices,
  startPriceSchedule,
} from '#write-api/options/schedule-and-apply-price-changes.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const DAY = 86_400
const MINUTE = 60

const fixture = startedOnce(seededFixture)

type Listed<T> = { items: T[]; total: number }

const now = () => Math.floor(fixture.core.now() / 1_000)
const put = (key: string, value: string, call = fixture.root.call) =>
  call('PUT', '/api/option/', { body: { key, value } })
const option = async (key: string) => {
  const { data } = await fixture.root.call<{ key: string; value: string }[]>('GET', '/api/option/')
  return data.find((row) => row.key === key)?.value ?? ''
}
const history = async (query = '') =>
  (await fixture.admin.call<Listed<PriceChange>>('GET', `/api/option/price_history${query}`)).data
const schedule = (body: unknown, call = fixture.admin.call) =>
  call<{ id: number }>('POST', '/api/option/price_schedule', { body })
const planned = async () =>
  (await fixture.admin.call<Listed<ScheduledChange>>('GET', '/api/option/price_schedule')).data
const entry = (name: string, value: string | null, key = 'ModelRatio') => ({
  option: key,
  name,
  value,
})

describe('the price history', () => {
  it('shows the old and new value, user and time of each change, newest first', async () => {
    await put('ModelRatio', '{"hist-a":1,"hist-b":2}')
    await put('ModelRatio', '{"hist-a":1.5,"hist-b":2.0}', fixture.admin.call)
    const { items, total } = await history('?model=hist-a')
    expect(total).toBe(2)
    expect(items).toMatchObject([
      { username: 'admin1', option: 'ModelRatio', model: 'hist-a', before: '1', after: '1.5' },
      { username: 'root', user_id: 1, group: '', before: null, after: '1' },
    ])
    expect(Math.abs((items[0]?.time ?? 0) - now())).toBeLessThan(60)
    expect((await history('?model=hist-b')).total).toBe(1)
  })

  it('is searched by part of a model’s name, in any case and without wildcards', async () => {
    await put('ModelRatio', '{"Hist_Part%1":1,"hist-part-2":2}')
    const found = async (keyword: string, more = '') =>
      new Set((await history(`?keyword=${keyword}${more}`)).items.map(({ model }) => model))
    expect(await found('IST-PART')).toEqual(new Set(['hist-part-2']))
    expect(await found('_part')).toEqual(new Set(['Hist_Part%1']))
    expect(await found('%25')).toEqual(new Set(['Hist_Part%1']))
    expect(await found('part', '&model=hist-part')).toEqual(new Set())
    const long = `/api/option/price_history?keyword=${'x'.repeat(201)}`
    expect(await fixture.admin.call('GET', long)).toMatchObject({ status: 400 })
  })

  it('is filtered by group, and finds special ratios by either group', async () => {
    await put('GroupRatio', '{"default":1,"vip":1,"svip":1,"hist":2}')
    await put('GroupGroupRatio', '{"vip":{"hist":0.9}}')
    expect((await history('?group=hist')).items).toMatchObject([
      { option: 'GroupGroupRatio', group: 'hist', user_group: 'vip', before: null, after: '0.9' },
      { option: 'GroupRatio', group: 'hist', user_group: '', before: null, after: '2' },
    ])
    expect((await history('?group=vip')).items).toMatchObject([{ user_group: 'vip' }])
  })

  it('has pages, and refuses an invalid page number', async () => {
    const all = await history('?page_size=100')
    const second = await history('?p=1&page_size=2')
    expect(second.items).toEqual(all.items.slice(2, 4))
    const { status, code } = await fixture.admin.call('GET', '/api/option/price_history?p=x')
    expect([status, code]).toEqual([400, 'InvalidField'])
  })

  it.each(['price_history', 'price_schedule'])('%s is for admins', async (path) => {
    expect((await fixture.user.call('GET', `/api/option/${path}`)).status).toBe(403)
    expect((await fixture.anybody('GET', `/api/option/${path}`)).status).toBe(401)
    expect((await fixture.root.call('GET', `/api/option/${path}`)).status).toBe(200)
  })
})

describe('resetting the model ratios', () => {
  it('restores the built-in ones in one append; a repetition changes nothing', async () => {
    await put('ModelRatio', '{"reset-me":4}')
    const head = await fixture.head()
    const reset = () => fixture.admin.call('POST', '/api/option/rest_model_ratio')
    expect(await reset()).toMatchObject({ status: 200, success: true })
    expect(await option('ModelRatio')).toBe(OPTIONS.get('ModelRatio')?.defaultText)
    expect(await fixture.head()).toBe(head + 1)
    expect((await history('?model=reset-me')).items[0]).toMatchObject({ before: '4', after: null })
    expect((await reset()).success).toBe(true)
    expect(await fixture.head()).toBe(head + 1)
  })
})

describe('fallback prices', () => {
  it('of one kind clear those of the other kind, on the server too', async () => {
    await put('fallback_input_ratio', '2')
    await put('fallback_completion_ratio', '3')
    expect((await put('fallback_single_price', '0.01')).success).toBe(true)
    expect(await option('fallback_input_ratio')).toBe('')
    expect(await option('fallback_completion_ratio')).toBe('')
    await put('fallback_completion_ratio', '3')
    expect(await option('fallback_single_price')).toBe('')
    await put('fallback_completion_ratio', '')
  })
})

describe('a scheduled price change', () => {
  it('waits for its time, is applied once by fifty checks, and is in the history', async () => {
    await put('ModelRatio', '{"later":1}')
    const at = now() + MINUTE
    const answer = await schedule({
      at,
      changes: [entry('later', '2.50'), entry('g', '3', 'GroupRatio')],
    })
    expect(answer).toMatchObject({ status: 200, success: true })
    const { id } = answer.data
    expect((await planned()).items).toMatchObject([
      {
        id,
        at,
        username: 'admin1',
        status: 'planned',
        ended_time: 0,
        changes: [entry('later', '2.5'), entry('g', '3', 'GroupRatio')],
      },
    ])
    await applyDuePrices(fixture.core)
    expect(JSON.parse(await option('ModelRatio'))).toEqual({ later: 1 })
    await put('ModelRatio', '{"later":1,"between":7}')

    fixture.clock.ahead += 2 * MINUTE * 1_000
    await fifty(() => applyDuePrices(fixture.core))
    await expect.poll(async () => (await planned()).items[0]?.status).toBe('applied')
    await expect
      .poll(async () => JSON.parse(await option('ModelRatio')))
      .toEqual({ later: 2.5, between: 7 })
    expect(JSON.parse(await option('GroupRatio'))).toMatchObject({ g: 3 })
    const events = await fixture.core.store.readStream(OPTIONS_STREAM)
    const applied = events.filter(({ type }) => type === 'PriceChangeApplied')
    expect(applied).toMatchObject([
      { data: { id }, meta: { actor: 'system:price-changes', cause: `price-change-${id}` } },
    ])
    const { revision = 0 } = applied[0] ?? {}
    expect(
      events.slice(revision, revision + 3).map(({ type, meta }) => [type, meta.cause]),
    ).toEqual(
      ['PriceChangeApplied', 'OptionSet', 'OptionSet'].map((type) => [type, `price-change-${id}`]),
    )
    expect((await history('?model=later')).items[0]).toMatchObject({
      user_id: fixture.admin.id,
      username: 'admin1',
      planned_id: id,
      before: '1',
      after: '2.5',
    })
    const changes = await fixture.admin.call<Listed<OptionChange>>(
      'GET',
      '/api/option/history?key=ModelRatio',
    )
    expect(changes.data.items.slice(0, 2)).toMatchObject([
      { username: 'admin1', planned_id: id },
      { username: 'root', planned_id: 0 },
    ])
  })

  it('is applied once by the process with the lease, even late after a downtime', async () => {
    const { data } = await schedule({ at: now() + 60, changes: [entry('down', '9')] })
    fixture.clock.ahead += 2 * MINUTE * 1_000
    const others = [startPriceSchedule(fixture.core), startPriceSchedule(fixture.core)]
    await expect
      .poll(async () => (await planned()).items.find(({ id }) => id === data.id)?.status)
      .toBe('applied')
    await Promise.all(others.map((other) => other.stop()))
    const events = await fixture.core.store.readStream(OPTIONS_STREAM)
    const applied = events.filter(
      (event) =>
        event.type === 'PriceChangeApplied' && (event.data as { id: number }).id === data.id,
    )
    expect(applied).toHaveLength(1)
  })

  it('can be edited while it waits; of fifty edits at once one replaces it', async () => {
    const at = now() + 60
    const { data } = await schedule({ at, changes: [entry('edited', '9')] })
    const answers = await fifty(() =>
      schedule({ at: at + 60, changes: [entry('edited', '8')], replaces: data.id }),
    )
    const [done, ...more] = answers.filter(({ success }) => success)
    expect([more, answers.find(({ success }) => !success)?.code]).toEqual([
      [],
      'PriceChangeUnknown',
    ])
    const { items } = await planned()
    const waiting = items.filter(({ status }) => status === 'planned')
    expect(waiting).toMatchObject([{ id: done?.data.id, at: at + 60, changes: [{ value: '8' }] }])
    expect(items.find(({ id }) => id === data.id)).toMatchObject({ status: 'cancelled' })
    await fixture.admin.call('DELETE', `/api/option/price_schedule/${done?.data.id}`)
  })

  it('can be cancelled once while it waits, and is then never applied', async () => {
    const { data } = await schedule({ at: now() + 60, changes: [entry('never', '9')] })
    const cancel = () => fixture.admin.call('DELETE', `/api/option/price_schedule/${data.id}`)
    expect(await cancel()).toMatchObject({ status: 200, success: true })
    expect(await cancel()).toMatchObject({ status: 404, code: 'PriceChangeUnknown' })
    fixture.clock.ahead += 2 * MINUTE * 1_000
    await applyDuePrices(fixture.core)
    expect(await option('ModelRatio')).not.toContain('never')
    expect((await planned()).items.find(({ id }) => id === data.id)?.status).toBe('cancelled')
    for (const id of ['0', 'x', '-1', '1e3']) {
      expect((await fixture.admin.call('DELETE', `/api/option/price_schedule/${id}`)).status).toBe(
        400,
      )
    }
  })

  it.each([
    ['nothing in it', () => ({ at: now() + 60, changes: [] }), 200, 'PriceChangeEmpty'],
    [
      'a time gone by',
      () => ({ at: now(), changes: [entry('m', '1')] }),
      200,
      'PriceChangeNotAhead',
    ],
    [
      'a time far off',
      () => ({ at: now() + 400 * DAY, changes: [entry('m', '1')] }),
      200,
      'PriceChangeTooFar',
    ],
    [
      'another option',
      () => ({ at: now() + 60, changes: [entry('m', '1', 'SystemName')] }),
      400,
      'UnknownOption',
    ],
    [
      'an option that is none',
      () => ({ at: now() + 60, changes: [entry('m', '1', '__proto__')] }),
      400,
      'UnknownOption',
    ],
    ['no number', () => ({ at: now() + 60, changes: [entry('m', '1.2.3')] }), 400, 'InvalidOption'],
    [
      'a price below 0',
      () => ({ at: now() + 60, changes: [entry('m', '-1')] }),
      400,
      'InvalidOption',
    ],
    [
      'the default group gone',
      () => ({ at: now() + 60, changes: [entry('default', null, 'GroupRatio')] }),
      400,
      'InvalidOption',
    ],
    [
      'a number for a text',
      () => ({ at: now() + 60, changes: [{ ...entry('m', '1'), value: 1 }] }),
      400,
      'InvalidField',
    ],
    [
      'an entry twice',
      () => ({ at: now() + 60, changes: [entry('m', '7'), entry('n', '1'), entry('m', '8')] }),
      400,
      'InvalidOption',
    ],
    ['no name', () => ({ at: now() + 60, changes: [entry('', '1')] }), 400, 'InvalidField'],
    ['no time', () => ({ changes: [entry('m', '1')] }), 400, 'InvalidField'],
    [
      'too many entries',
      () => ({
        at: now() + 60,
        changes: Array.from({ length: 1_001 }, (_, n) => entry(`m${n}`, '1')),
      }),
      200,
      'TooManyPriceChanges',
    ],
  ] as const)('is refused with %s and writes nothing', async (_title, body, status, code) => {
    const head = await fixture.head()
    expect(await schedule(body())).toMatchObject({ status, success: false, code })
    expect(await fixture.head()).toBe(head)
  })
})

describe('a scheduled change of fallback prices', () => {
  it('is refused with half of a fallback pair, which would price nothing', async () => {
    await put('fallback_single_price', '0.01')
    const half = entry('', '2', 'fallback_input_ratio')
    const answer = await schedule({ at: now() + MINUTE, changes: [half] })
    expect(answer).toMatchObject({ success: false, code: 'InvalidOption' })
    expect(answer.message).toContain('fallback_completion_ratio')
    const whole = [half, entry('', '3', 'fallback_completion_ratio')]
    const { data } = await schedule({ at: now() + MINUTE, changes: whole })
    await fixture.admin.call('DELETE', `/api/option/price_schedule/${data.id}`)
    await put('fallback_single_price', '')
  })
})

import { describe, expect, it } from 'vitest'
import { optionsDecider } from '#domain/options/decide.ts'
import { PLANNED_ENTRIES_MAX, PLANNED_MAX } from '#domain/options/decide-scheduled-price-change.ts'
import type { OptionsEvent, PlannedEntry } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { entryChanges, pairOf } from '#domain/pricing/compare-price-options.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { golden } from '#test/domain/golden/story.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(optionsDecider)

const NOW = 1_790_000_000_000
const DAY = 86_400_000

const set = (key: string, value: string, before: string | null = null): OptionsEvent => ({
  type: 'OptionSet',
  v: 2,
  data: { key, value, before },
})
const setOption = (key: string, value: string) => ({ type: 'SetOption', key, value }) as const
const scheduled = (id: number, at: number, changes: readonly PlannedEntry[]): OptionsEvent => ({
  type: 'PriceChangeScheduled',
  v: 1,
  data: { id, at, changes },
})
const over = (type: 'PriceChangeCancelled' | 'PriceChangeApplied', id: number): OptionsEvent => ({
  type,
  v: 1,
  data: { id },
})
const schedule = (changes: readonly PlannedEntry[], at = NOW + DAY) =>
  ({ type: 'SchedulePriceChange', at, now: NOW, changes }) as const
const apply = (id: number, now = NOW + DAY) => ({ type: 'ApplyPriceChange', id, now }) as const
const entry = (option: string, name: string, value: string | null): PlannedEntry => ({
  option,
  name,
  value,
})

describe('the price changes that a new option text causes', () => {
  it('are listed by name, with exact numbers', () => {
    const after = '{"n":2.0,"m":1.500000000000000001,"new":0}'
    expect(entryChanges('ModelRatio', '{"m":1.50,"n":2,"gone":3}', after)).toEqual([
      ['m', '1.5', '1.500000000000000001'],
      ['gone', '3', null],
      ['new', null, '0'],
    ])
  })

  it('are empty if only the layout differs; a removed name gets its built-in price', () => {
    expect(entryChanges('ModelRatio', '{"m":1}', '{ "m": 1.0 }')).toEqual([])
    expect(entryChanges('ModelRatio', '{"gpt-4o":9}', '{}')).toEqual([['gpt-4o', '9', '1.25']])
    expect(entryChanges('ModelRatio', '{"constructor":1}', '{}')).toEqual([
      ['constructor', '1', null],
    ])
  })

  it('name both groups of a special ratio, and have no name for fallback prices', () => {
    expect(entryChanges('GroupGroupRatio', '{}', '{"vip":{"default":0.9}}')).toEqual([
      ['vip > default', null, '0.9'],
    ])
    expect(entryChanges('fallback_single_price', '0.5', '1')).toEqual([['', '0.5', '1']])
    const flag = 'fallback_pricing_enabled'
    expect(entryChanges(flag, '', 'true')).toEqual([['', 'false', 'true']])
    expect(entryChanges(flag, 'false', '')).toEqual([])
    const names = entryChanges('GroupGroupRatio', '{}', '{"a > b":{"c":1},"x":{"y > z":2}}')
    expect(names.map(([name]) => pairOf(name))).toEqual([
      ['a > b', 'c'],
      ['x', 'y > z'],
    ])
    expect(entryChanges('SystemName', 'a', 'b')).toEqual([])
  })
})

describe('the fallback price', () => {
  const fallback = (price: string, input: string, completion: string) => [
    set('fallback_single_price', price),
    set('fallback_input_ratio', input),
    set('fallback_completion_ratio', completion),
  ]
  const valuesAfter = (facts: readonly OptionsEvent[], ...keys: [string, string][]) => {
    let state = given(...facts).state
    for (const [key, value] of keys) {
      const outcome = optionsDecider.decide(setOption(key, value), state)
      if (!Array.isArray(outcome)) throw new Error('refused')
      state = outcome.reduce(optionsDecider.evolve, state)
    }
    return ['single_price', 'input_ratio', 'completion_ratio'].map((name) =>
      state.values.get(`fallback_${name}`),
    )
  }

  it('is never both per call and by ratios, in whatever order a form saves the options', () => {
    const toPair = [
      ['fallback_single_price', ''],
      ['fallback_input_ratio', '2'],
      ['fallback_completion_ratio', '3'],
    ] as [string, string][]
    for (const order of [toPair, [...toPair].reverse()]) {
      expect(valuesAfter(fallback('1', '', ''), ...order)).toEqual(['', '2', '3'])
    }
    const toPrice = [
      ['fallback_input_ratio', ''],
      ['fallback_single_price', '1'],
      ['fallback_completion_ratio', ''],
    ] as [string, string][]
    for (const order of [toPrice, [...toPrice].reverse()]) {
      expect(valuesAfter(fallback('', '2', '3'), ...order)).toEqual(['1', '', ''])
    }
    expect(valuesAfter(fallback('1', '', ''), ['fallback_input_ratio', '2'])[0]).toBe('')
  })
})

describe('a command to reset the model ratios', () => {
  it('restores the built-in ratios, and changes nothing if repeated', () => {
    const text = OPTIONS.get('ModelRatio')?.defaultText ?? ''
    given(set('ModelRatio', '{"mine":3}'))
      .when({ type: 'ResetModelRatios' })
      .then([set('ModelRatio', text, '{"mine":3}')])
    given().when({ type: 'ResetModelRatios' }).then([])
  })
})

describe('a scheduled price change', () => {
  const changes = [entry('ModelRatio', 'm', '2.50'), entry('CompletionRatio', 'm', '4')]
  const kept = [entry('ModelRatio', 'm', '2.5'), entry('CompletionRatio', 'm', '4')]

  it('gets a number, and cannot be applied before its time', () => {
    given()
      .when(schedule(changes))
      .then([scheduled(1, NOW + DAY, kept)])
    given(scheduled(1, NOW, kept), over('PriceChangeCancelled', 1))
      .when(schedule(changes))
      .then([scheduled(2, NOW + DAY, kept)])
    given(scheduled(1, NOW + DAY, kept))
      .when(apply(1, NOW + DAY - 1))
      .then(codedError('PriceChangeNotDue'))
  })

  it('replaces a waiting one in one append, even when the limit is reached', () => {
    const full = Array.from({ length: PLANNED_MAX }, (_, n) => scheduled(n + 1, NOW + DAY, kept))
    const replacing = (replaces: number) => ({ ...schedule(kept, NOW + 2 * DAY), replaces })
    given(...full)
      .when(replacing(7))
      .then([over('PriceChangeCancelled', 7), scheduled(PLANNED_MAX + 1, NOW + 2 * DAY, kept)])
    given(...full, over('PriceChangeApplied', 7))
      .when(replacing(7))
      .then(codedError('PriceChangeUnknown'))
    given(...full)
      .when({ ...replacing(7), at: NOW })
      .then(codedError('PriceChangeNotAhead'))
  })

  it('is applied once, in one append, to the prices of that moment', () => {
    const before = [
      scheduled(1, NOW + DAY, kept),
      set('ModelRatio', '{"m":1,"between":7}'),
      set('CompletionRatio', '{"m":4}'),
    ]
    const text = '{\n  "m": 2.5,\n  "between": 7\n}'
    given(...before)
      .when(apply(1))
      .then([over('PriceChangeApplied', 1), set('ModelRatio', text, '{"m":1,"between":7}')])
    given(...before, over('PriceChangeApplied', 1))
      .when(apply(1))
      .then([])
    given(...before, over('PriceChangeCancelled', 1))
      .when(apply(1))
      .then([])
  })

  it('removes an entry whose value is null', () => {
    given(set('ModelPrice', '{"m":1}'), scheduled(1, NOW, [entry('ModelPrice', 'm', null)]))
      .when(apply(1))
      .then([over('PriceChangeApplied', 1), set('ModelPrice', '{}', '{"m":1}')])
  })

  it('changes special ratios by both groups, and keeps the other ratios', () => {
    const before = '{"vip":{"default":0.9,"svip":0.8},"svip":{"default":0.7}}'
    const list = [
      entry('GroupGroupRatio', 'vip > default', '0.50'),
      entry('GroupGroupRatio', 'svip > default', null),
      entry('GroupGroupRatio', 'new > default', '2'),
    ]
    const { facts } = given(set('GroupGroupRatio', before)).when(schedule(list))
    const [planned] = facts as OptionsEvent[]
    if (planned?.type !== 'PriceChangeScheduled') throw new Error('refused')
    expect(planned.data.changes[0]).toEqual(entry('GroupGroupRatio', 'vip > default', '0.5'))
    const after = given(set('GroupGroupRatio', before), planned).when(apply(1)).facts
    const [, written] = after as OptionsEvent[]
    expect(written?.type === 'OptionSet' && JSON.parse(written.data.value)).toEqual({
      vip: { default: 0.5, svip: 0.8 },
      new: { default: 2 },
    })
    given(
      set('GroupGroupRatio', before),
      scheduled(1, NOW, [entry('GroupGroupRatio', 'vip > default', '0.9')]),
    )
      .when(apply(1))
      .then([over('PriceChangeApplied', 1)])
  })

  it('changes special ratios of groups with a > in their names', () => {
    const list = [entry('GroupGroupRatio', '["a > b","c"]', '0.9')]
    const [planned] = given().when(schedule(list)).facts as OptionsEvent[]
    const { after } = given(planned as OptionsEvent).when(apply(1))
    expect(JSON.parse(after.values.get('GroupGroupRatio') ?? '')).toEqual({ 'a > b': { c: 0.9 } })
  })

  it('changes fallback prices, which clear each other as if they were saved', () => {
    const facts = [set('fallback_single_price', '1'), set('fallback_pricing_enabled', 'false')]
    const list = [
      entry('fallback_pricing_enabled', '', 'true'),
      entry('fallback_input_ratio', '', '2'),
      entry('fallback_completion_ratio', '', '3.0'),
      entry('fallback_single_price', '', null),
    ]
    const [planned] = given(...facts).when(schedule(list)).facts as OptionsEvent[]
    if (planned?.type !== 'PriceChangeScheduled') throw new Error('refused')
    const { after } = given(...facts, planned).when(apply(1))
    const values = ['pricing_enabled', 'single_price', 'input_ratio', 'completion_ratio'].map(
      (name) => after.values.get(`fallback_${name}`),
    )
    expect(values).toEqual(['true', '', '2', '3'])
    const alone = [entry('fallback_single_price', '', '5')]
    const [single] = given(...facts).when(schedule(alone)).facts as OptionsEvent[]
    const pair = [set('fallback_input_ratio', '2'), set('fallback_completion_ratio', '3')]
    const replaced = given(...pair, single as OptionsEvent).when(apply(1)).after.values
    expect([...replaced.values()]).toEqual(['', '', '5'])
  })

  it('fails and is removed if the option refuses it when it is applied', () => {
    const change = scheduled(1, NOW, [entry('GroupRatio', 'default', null)])
    const { facts, after } = given(change).when(apply(1))
    expect(facts).toEqual([
      {
        type: 'PriceChangeFailed',
        v: 1,
        data: { id: 1, option: 'GroupRatio', fault: 'entry-missing' },
      },
    ])
    expect(after.planned.size).toBe(0)
  })

  it('can be cancelled while it waits, and only then', () => {
    const cancel = { type: 'CancelPriceChange', id: 1 } as const
    given(scheduled(1, NOW, kept))
      .when(cancel)
      .then([over('PriceChangeCancelled', 1)])
    given().when(cancel).then(codedError('PriceChangeUnknown'))
    given(scheduled(1, NOW, kept), over('PriceChangeApplied', 1))
      .when(cancel)
      .then(codedError('PriceChangeUnknown'))
  })

  it.each([
    ['has no entries', [], codedError('PriceChangeEmpty')],
    [
      'names an option that is not a price',
      [entry('SystemName', 'm', '1')],
      codedError('UnknownOption', { key: 'SystemName' }),
    ],
    [
      'sets a negative ratio',
      [entry('ModelRatio', 'm', '-1')],
      codedError('InvalidOption', { key: 'ModelRatio', error: 'not-ratio', name: 'm' }),
    ],
    [
      'lists an entry twice',
      [entry('ModelRatio', 'm', '7'), entry('ModelRatio', 'm', '8')],
      codedError('InvalidOption', { key: 'ModelRatio', error: 'duplicate-key', name: 'm' }),
    ],
    [
      'names only one group of a special ratio',
      [entry('GroupGroupRatio', 'vip', '1')],
      codedError('InvalidOption', { key: 'GroupGroupRatio', error: 'name-missing' }),
    ],
    [
      'gives a name to a fallback price',
      [entry('fallback_single_price', 'm', '1')],
      codedError('InvalidOption', { key: 'fallback_single_price', error: 'name-needless' }),
    ],
    [
      'sets both forms of the fallback price',
      [
        entry('fallback_input_ratio', '', '2'),
        entry('fallback_completion_ratio', '', '3'),
        entry('fallback_single_price', '', '1'),
      ],
      codedError('InvalidOption', {
        key: 'fallback_single_price',
        error: 'rivals',
        name: 'fallback_input_ratio, fallback_completion_ratio',
      }),
    ],
    [
      'sets a switch to neither on nor off',
      [entry('fallback_pricing_enabled', '', 'x')],
      codedError('InvalidOption', { key: 'fallback_pricing_enabled', error: 'not-flag' }),
    ],
    [
      'has an entry without a name',
      [entry('ModelRatio', '', '1')],
      codedError('InvalidOption', { key: 'ModelRatio', error: 'name-missing' }),
    ],
    [
      'removes the ratio of the default group',
      [entry('GroupRatio', 'default', null)],
      codedError('InvalidOption', { key: 'GroupRatio', error: 'entry-missing', name: 'default' }),
    ],
  ])('is refused if it %s', (_title, list, refusal) => {
    given().when(schedule(list)).then(refusal)
  })

  it('is refused if it is in the past, too far ahead, too long or one too many', () => {
    given().when(schedule(changes, NOW)).then(codedError('PriceChangeNotAhead'))
    given()
      .when(schedule(changes, NOW + 367 * DAY))
      .then(codedError('PriceChangeTooFar', { days: 366 }))
    const long = Array.from({ length: PLANNED_ENTRIES_MAX + 1 }, (_, n) =>
      entry('ModelRatio', `m${n}`, '1'),
    )
    given()
      .when(schedule(long))
      .then(codedError('TooManyPriceChanges', { limit: PLANNED_ENTRIES_MAX }))
    const many = Array.from({ length: PLANNED_MAX }, (_, n) => scheduled(n + 1, NOW + DAY, kept))
    given(...many)
      .when(schedule(changes))
      .then(codedError('TooManyPriceChanges', { limit: PLANNED_MAX }))
  })
})

describe('recorded price changes', () => {
  it('give the same state as when they were first recorded', () => {
    const facts = [
      'price-change-scheduled-v1',
      'price-change-applied-v1',
      'price-change-cancelled-v1',
      'price-change-failed-v1',
    ].map((name) => golden(name) as OptionsEvent)
    expect(given(...facts.slice(0, 1)).state.planned.get(1)).toEqual(facts[0]?.data)
    expect(given(...facts).state).toMatchObject({ planned: new Map(), lastPlannedId: 1 })
  })
})

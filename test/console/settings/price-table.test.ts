import { describe, expect, it } from 'vitest'
import {
  changedRow,
  convertToMode,
  draftOfRow,
  emptyPrice,
  rowOfDraft,
  validatePrice,
} from '#console/features/settings/price-draft.ts'
import {
  priceRows,
  readPriceMaps,
  withoutRows,
  withRows,
} from '#console/features/settings/price-table.ts'

const maps = readPriceMaps(
  new Map([
    ['ModelPrice', '{"dall-e-3": 0.04}'],
    ['ModelRatio', '{"gpt-4o": 1.25, "o3": 1}'],
    ['CompletionRatio', '{"gpt-4o": 4}'],
    ['CacheRatio', '{"gpt-9": 0.5}'],
    ['MaxOutputTokens', '{"gpt-4o": 16384, "gpt-9": 4096, "dall-e-3": 10}'],
  ]),
)
if (maps === null) throw new Error('the maps are valid')

describe('the price table', () => {
  it('shows each model with a price or a ratio once; a cache ratio alone is none', () => {
    expect(priceRows(maps).map(({ name, price, ratio }) => [name, price, ratio])).toEqual([
      ['dall-e-3', '0.04', ''],
      ['gpt-4o', '', '1.25'],
      ['o3', '', '1'],
    ])
  })

  it('an edit touches only the maps it changes', () => {
    const typed = {
      name: 'gpt-4o',
      inputPrice: '2.50',
      outputPrice: '12',
      maxOutputTokens: '16384',
    }
    const row = rowOfDraft({ ...emptyPrice, ...typed })
    const changed = withRows(maps, [row])
    expect([...changed.keys()]).toEqual(['CompletionRatio'])
    expect(changed.get('CompletionRatio')).toBe('{\n  "gpt-4o": 4.8\n}')
  })

  it('a fixed price takes the ratios away', () => {
    const row = rowOfDraft({ ...emptyPrice, mode: 'call', name: 'gpt-4o', callPrice: '0.10' })
    const changed = withRows(maps, [row])
    expect(changed.get('ModelPrice')).toBe('{\n  "dall-e-3": 0.04,\n  "gpt-4o": 0.1\n}')
    expect(changed.get('ModelRatio')).toBe('{\n  "o3": 1\n}')
    expect(changed.get('CompletionRatio')).toBe('{}')
  })

  it('a model added without a cache ratio or an output limit keeps those that stand', () => {
    const row = rowOfDraft({ ...emptyPrice, name: 'gpt-9', inputPrice: '2' })
    expect([...withRows(maps, [row]).keys()]).toEqual(['ModelRatio'])
  })

  it('an output limit stands beside the price, is set, changed and emptied', () => {
    const rows = priceRows(maps)
    expect(rows.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual(['10', '16384', ''])
    const [, row] = rows
    if (row === undefined) throw new Error('there is a row')
    const before = draftOfRow(row)
    const change = (maxOutputTokens: string) =>
      withRows(maps, [changedRow(row, before, { ...before, maxOutputTokens })])
    expect([...change('32,768')]).toEqual([
      ['MaxOutputTokens', '{\n  "gpt-4o": 32768,\n  "gpt-9": 4096,\n  "dall-e-3": 10\n}'],
    ])
    expect(JSON.parse(change('').get('MaxOutputTokens') ?? '')).toEqual({
      'gpt-9': 4096,
      'dall-e-3': 10,
    })
  })

  it('a deleted model leaves every map', () => {
    expect([...withoutRows(maps, ['gpt-4o']).keys()]).toEqual([
      'ModelRatio',
      'CompletionRatio',
      'MaxOutputTokens',
    ])
  })

  it('opening a model and applying it unchanged changes nothing', () => {
    for (const row of priceRows(maps)) {
      expect([...withRows(maps, [rowOfDraft(draftOfRow(row))])], row.name).toEqual([])
    }
  })

  it('broken JSON gives no table instead of a wrong one', () => {
    expect(readPriceMaps(new Map([['ModelRatio', '{"a":']]))).toBeNull()
  })
})

describe('the price form', () => {
  const taken = new Set(['gpt-4o'])

  it('refuses a name twice, words for numbers, and a token price of 0', () => {
    const draft = { ...emptyPrice, name: 'gpt-4o', inputPrice: '0', outputPrice: 'x' }
    expect(validatePrice(draft, taken)).toEqual({
      name: 'nameTaken',
      inputPrice: 'zeroPrice',
      outputPrice: 'notNumber',
    })
    expect(validatePrice(emptyPrice, taken)).toEqual({
      name: 'nameMissing',
      inputPrice: 'notNumber',
    })
    const negative = { ...emptyPrice, name: 'a', mode: 'call', callPrice: '-1' } as const
    expect(validatePrice(negative, taken)).toEqual({ callPrice: 'negative' })
  })

  it.each(['0', '-1', '1.5', 'x', '1e3', '1,5', '1000000000'])(
    'refuses an output limit of %s, at its field',
    (maxOutputTokens) => {
      const draft = { ...emptyPrice, name: 'a', inputPrice: '1', maxOutputTokens }
      expect(validatePrice(draft, taken)).toEqual({ maxOutputTokens: 'notCount' })
      expect(validatePrice({ ...draft, mode: 'call', callPrice: '1' }, taken)).toEqual({})
    },
  )

  it.each(['', '1', '16384', '16,384', ' 999999999 '])('takes an output limit of %j', (text) => {
    const draft = { ...emptyPrice, name: 'a', inputPrice: '1', maxOutputTokens: text }
    expect(validatePrice(draft, taken)).toEqual({})
    expect(rowOfDraft(draft).maxOutputTokens).toBe(text.replace(/[ ,]/g, ''))
  })

  it('ratio and price are two views of one number', () => {
    const draft = { ...emptyPrice, name: 'a', inputPrice: '0.3', outputPrice: '1.2' }
    const ratios = convertToMode(draft, 'ratio')
    expect([ratios.ratio, ratios.completionRatio]).toEqual(['0.15', '4'])
    const back = convertToMode({ ...ratios, ratio: '0.2' }, 'price')
    expect([back.inputPrice, back.outputPrice]).toEqual(['0.4', '1.6'])
  })

  it('a ratio of 0 is a free model, and allowed', () => {
    expect(validatePrice({ ...emptyPrice, name: 'a', mode: 'ratio', ratio: '0' }, taken)).toEqual(
      {},
    )
  })
})

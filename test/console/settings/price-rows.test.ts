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
} from '#console/features/settings/price-rows.ts'

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
  it('shows each model with a price or a ratio once, and none with only a cache ratio', () => {
    expect(priceRows(maps).map(({ name, price, ratio }) => [name, price, ratio])).toEqual([
      ['dall-e-3', '0.04', ''],
      ['gpt-4o', '', '1.25'],
      ['o3', '', '1'],
    ])
  })

  it('changes only the maps that an edit concerns', () => {
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

  it('removes the ratios of a model that gets a fixed price', () => {
    const row = rowOfDraft({ ...emptyPrice, mode: 'call', name: 'gpt-4o', callPrice: '0.10' })
    const changed = withRows(maps, [row])
    expect(changed.get('ModelPrice')).toBe('{\n  "dall-e-3": 0.04,\n  "gpt-4o": 0.1\n}')
    expect(changed.get('ModelRatio')).toBe('{\n  "o3": 1\n}')
    expect(changed.get('CompletionRatio')).toBe('{}')
  })

  it('keeps an existing cache ratio and output limit when a model is added without them', () => {
    const row = rowOfDraft({ ...emptyPrice, name: 'gpt-9', inputPrice: '2' })
    expect([...withRows(maps, [row]).keys()]).toEqual(['ModelRatio'])
  })

  it('shows the output limit beside the price, and can set, change and clear it', () => {
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

  it('removes a deleted model from every map', () => {
    expect([...withoutRows(maps, ['gpt-4o']).keys()]).toEqual([
      'ModelRatio',
      'CompletionRatio',
      'MaxOutputTokens',
    ])
  })

  it('changes nothing when a model is opened and applied unchanged', () => {
    for (const row of priceRows(maps)) {
      expect([...withRows(maps, [rowOfDraft(draftOfRow(row))])], row.name).toEqual([])
    }
  })

  it('is unavailable when the JSON is broken', () => {
    expect(readPriceMaps(new Map([['ModelRatio', '{"a":']]))).toBeNull()
  })
})

describe('the price form', () => {
  const taken = new Set(['gpt-4o'])

  it('rejects a duplicate name, text instead of a number, and a token price of 0', () => {
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
    'rejects an output limit of %s at its field',
    (maxOutputTokens) => {
      const draft = { ...emptyPrice, name: 'a', inputPrice: '1', maxOutputTokens }
      expect(validatePrice(draft, taken)).toEqual({ maxOutputTokens: 'notCount' })
      expect(validatePrice({ ...draft, mode: 'call', callPrice: '1' }, taken)).toEqual({})
    },
  )

  it.each(['', '1', '16384', '16,384', ' 999999999 '])('accepts an output limit of %j', (text) => {
    const draft = { ...emptyPrice, name: 'a', inputPrice: '1', maxOutputTokens: text }
    expect(validatePrice(draft, taken)).toEqual({})
    expect(rowOfDraft(draft).maxOutputTokens).toBe(text.replace(/[ ,]/g, ''))
  })

  it('converts between ratio and price', () => {
    const draft = { ...emptyPrice, name: 'a', inputPrice: '0.3', outputPrice: '1.2' }
    const ratios = convertToMode(draft, 'ratio')
    expect([ratios.ratio, ratios.completionRatio]).toEqual(['0.15', '4'])
    const back = convertToMode({ ...ratios, ratio: '0.2' }, 'price')
    expect([back.inputPrice, back.outputPrice]).toEqual(['0.4', '1.6'])
  })

  it('accepts a ratio of 0 for a free model', () => {
    expect(validatePrice({ ...emptyPrice, name: 'a', mode: 'ratio', ratio: '0' }, taken)).toEqual(
      {},
    )
  })
})

import { describe, expect, it } from 'vitest'
import { mergeChange } from '#console/features/settings/compare-and-merge-option-changes.ts'

const merged = (before: string, after: string, theirs: string) => {
  const { text, hasConflict } = mergeChange({ before, after }, theirs)
  return { entries: JSON.parse(text), hasConflict }
}

describe('a change of a map that another user has saved in the meantime', () => {
  it('keeps the entries of the other user, and sets and removes its own', () => {
    expect(merged('{"a":1,"b":2}', '{"a":3}', '{"a":1,"b":2,"theirs":7}')).toEqual({
      entries: { a: 3, theirs: 7 },
      hasConflict: false,
    })
    expect(merged('{"g":"x"}', '{"g":"x","h":"y"}', '{"g":"z"}')).toEqual({
      entries: { g: 'z', h: 'y' },
      hasConflict: false,
    })
  })

  it('keeps every digit', () => {
    const { text } = mergeChange(
      { before: '{"a":1}', after: '{"a":1,"b":0.1000000000000000055}' },
      '{"a":2.5000000000000000000001}',
    )
    expect(text).toContain('0.1000000000000000055')
    expect(text).toContain('2.5000000000000000000001')
  })

  it('reports a conflict when both users changed one entry, and keeps its own change', () => {
    expect(merged('{"a":1,"b":2}', '{"a":3,"b":2}', '{"a":9,"b":5}')).toEqual({
      entries: { a: 3, b: 5 },
      hasConflict: true,
    })
    expect(merged('{"a":1}', '{"a":3}', '{"a":3,"b":5}').hasConflict).toBe(false)
  })

  it('reports a conflict for anything but a flat map', () => {
    expect(mergeChange({ before: '1', after: '2' }, '3')).toEqual({ text: '2', hasConflict: true })
    const nested = '{"a":{"b":1}}'
    expect(mergeChange({ before: '{}', after: nested }, '{"c":{}}').hasConflict).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import { rebasedChange } from '#console/features/settings/rebased-change.ts'

const rebased = (before: string, after: string, theirs: string) => {
  const { text, isClear } = rebasedChange({ before, after }, theirs)
  return { entries: JSON.parse(text), isClear }
}

describe('a change of a map that somebody else has saved meanwhile', () => {
  it('takes their entries along, and sets and removes its own', () => {
    expect(rebased('{"a":1,"b":2}', '{"a":3}', '{"a":1,"b":2,"theirs":7}')).toEqual({
      entries: { a: 3, theirs: 7 },
      isClear: true,
    })
    expect(rebased('{"g":"x"}', '{"g":"x","h":"y"}', '{"g":"z"}')).toEqual({
      entries: { g: 'z', h: 'y' },
      isClear: true,
    })
  })

  it('keeps every digit', () => {
    const { text } = rebasedChange(
      { before: '{"a":1}', after: '{"a":1,"b":0.1000000000000000055}' },
      '{"a":2.5000000000000000000001}',
    )
    expect(text).toContain('0.1000000000000000055')
    expect(text).toContain('2.5000000000000000000001')
  })

  it('is not clear where both changed one entry; its own is then the draft', () => {
    expect(rebased('{"a":1,"b":2}', '{"a":3,"b":2}', '{"a":9,"b":5}')).toEqual({
      entries: { a: 3, b: 5 },
      isClear: false,
    })
    expect(rebased('{"a":1}', '{"a":3}', '{"a":3,"b":5}').isClear).toBe(true)
  })

  it('is not clear for anything but a flat map', () => {
    expect(rebasedChange({ before: '1', after: '2' }, '3')).toEqual({ text: '2', isClear: false })
    const nested = '{"a":{"b":1}}'
    expect(rebasedChange({ before: '{}', after: nested }, '{"c":{}}').isClear).toBe(false)
  })
})

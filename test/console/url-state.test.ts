import { describe, expect, it } from 'vitest'
import {
  choiceParam,
  flagParam,
  integerParam,
  readUrlState,
  textParam,
  writeUrlState,
} from '#console/ui/state/url-state.ts'

const SCHEMA = {
  p: integerParam({ fallback: 0, max: 1000 }),
  model: textParam(),
  type: choiceParam(['all', 'error'], 'all'),
  live: flagParam(true),
}

describe('the state in the URL', () => {
  it('reads back as it was written', () => {
    const values = { p: 3, model: 'gpt & co', type: 'error', live: false } as const
    const written = writeUrlState(SCHEMA, new URLSearchParams(), values)
    expect(readUrlState(SCHEMA, new URLSearchParams(written.toString()))).toEqual({
      values,
      dropped: [],
    })
  })

  it('drops invalid parameters, reports their names, and uses their fallbacks', () => {
    const bad = new URLSearchParams('p=1001&type=__proto__&live=yes&model=a%00b')
    expect(readUrlState(SCHEMA, bad)).toEqual({
      values: { p: 0, model: '', type: 'all', live: true },
      dropped: ['p', 'model', 'type', 'live'],
    })
  })

  it('keeps unknown parameters and omits fallback values', () => {
    const params = new URLSearchParams('theirs=1&p=4')
    expect(writeUrlState(SCHEMA, params, { p: 0, model: 'x' }).toString()).toBe('theirs=1&model=x')
  })
})

import { describe, expect, it } from 'vitest'
import { anomalyInLater, combineReports } from '#relay/canonical/combine-usage-reports.ts'

const EARLIER = {
  prompt_tokens: 1_000,
  completion_tokens: 600,
  total_tokens: 1_600,
  prompt_tokens_details: { cached_tokens: 900, audio_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 50 },
  cost: 0,
}

describe('two usage reports of one stream', () => {
  it('have the larger counts of both, and the other members of the later one', () => {
    const later = {
      ...{ prompt_tokens: 1, completion_tokens: 700, cost: 0.5, other: 'x' },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 60 },
    }
    expect(combineReports(EARLIER, later)).toEqual({
      ...{ prompt_tokens: 1_000, completion_tokens: 700, total_tokens: 1_600 },
      ...{ cost: 0.5, other: 'x' },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 60 },
    })
  })

  it.each([undefined, null, {}])('are the earlier one if the later one is %j', (later) => {
    expect(combineReports(EARLIER, later)).toEqual(EARLIER)
    expect(combineReports(undefined, EARLIER)).toEqual(EARLIER)
  })

  it.each([-1, Number.NaN, 0.5, 'many', '12', [1], {}, true, null])(
    'keep a valid count if the later one is %j',
    (completion_tokens) => {
      expect(combineReports(EARLIER, { completion_tokens })).toEqual(EARLIER)
    },
  )

  it.each(['700', 700.5, 1e30])('keep the later count %j, which is larger', (completion_tokens) => {
    expect(combineReports(EARLIER, { completion_tokens })).toMatchObject({ completion_tokens })
  })

  it.each<readonly [object, string | null]>([
    [{}, null],
    [{ completion_tokens: 0 }, null],
    [{ completion_tokens: null, total_tokens: -1 }, null],
    [{ cost: 0.25, other: -1 }, null],
    [{ completion_tokens: -1 }, 'negative'],
    [{ prompt_tokens: 0.5 }, 'fraction'],
    [{ completion_tokens_details: { reasoning_tokens: 'x' } }, 'not-a-number'],
    [{ completion_tokens_details: [] }, null],
  ])('the later one of which is %j have the anomaly %s', (later, anomaly) => {
    expect(anomalyInLater(EARLIER, later)).toBe(anomaly)
  })

  it('have the anomaly of a count in a list, such as those of Anthropic’s iterations', () => {
    const report = (output_tokens: number) => ({ iterations: [{ output_tokens }] })
    expect(anomalyInLater(report(5), report(-1))).toBe('negative')
    expect(anomalyInLater(report(5), report(6))).toBeNull()
  })

  it('are combined without going deeper than reports do', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) })
    const deep = nested(5_000)
    expect(combineReports(deep, deep)).toBeTypeOf('object')
    expect(anomalyInLater(deep, deep)).toBeNull()
  })
})

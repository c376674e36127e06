import { expect, it } from 'vitest'
import { createUnpricedFilter } from '#console/api/unpriced-models.ts'

it('a warning of missing prices leaves out moderations, which are free without a price', () => {
  const options = new Map([
    ['ModelPrice', '{"draw":0.04}'],
    ['ModelRatio', '{"gpt-4o":1.25}'],
  ])
  const models = ['draw', 'gpt-4o', 'omni-moderation-latest', 'unpriced']
  expect(createUnpricedFilter(options)(models)).toEqual(['unpriced'])
})

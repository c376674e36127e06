import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CallSettled } from '#domain/accounts/events.ts'
import { otherOfSettled } from '#projections/logs/log-row-details.ts'

const GOLDEN = join(import.meta.dirname, '../../domain/golden/call-settled-v1.json')

const settled = (changes: Partial<CallSettled['data']>) => {
  const { data } = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { data: CallSettled['data'] }
  return otherOfSettled({ ...data, ...changes })
}

it('a row has the tier that the input reached, and the tools with their prices', () => {
  const { data } = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { data: CallSettled['data'] }
  const tiers = [
    { above: 999, input: '2', output: '1.5' },
    { above: 1_000, input: '3', output: '2' },
  ]
  const price = { ...data.price, tiers, tools: { web_search: '10' } }
  const usage = { ...data.usage, toolCalls: 3, tools: { web_search: 3 } }
  expect(settled({ price, usage }).other).toMatchObject({
    price: { tierAbove: '999', tierInput: '2', tierOutput: '1.5', tool_web_search: '10' },
    usage: { toolCalls: 3, tools: { web_search: 3 } },
  })
  const short = settled({ price, usage: { ...usage, cacheRead: 0 } }).other
  expect(JSON.stringify(short)).not.toMatch(/tier/)
})

it('a row has the conditions of the answer, whose ratios multiply the price', () => {
  const { data } = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { data: CallSettled['data'] }
  if (data.price.mode === 'call') throw new Error('the golden price is per token')
  const conditions = { fast: '2', ultrafast: '6', us_inference: '1.1' }
  const price = { ...data.price, model: '1.25', conditions }
  const usage = { ...data.usage, conditions: ['fast', 'us_inference'] as const }
  const { other } = settled({ price, usage })
  expect(other).toMatchObject({
    price: { model: '2.75', condition_fast: '2', condition_us_inference: '1.1' },
    usage: { conditions: ['fast', 'us_inference'] },
  })
  expect(JSON.stringify(other)).not.toContain('ultrafast')
  expect(settled({ price }).other).toMatchObject({ price: { model: '1.25' } })
  const perCall = { mode: 'call', list: 1, price: '0.04', group: '1', conditions } as const
  expect(settled({ price: perCall, usage }).other).toMatchObject({ price: { price: '0.088' } })
})

it('only admins see the model that a channel maps to', () => {
  const { other, adminOther } = settled({ upstreamModel: 'hidden-upstream-model' })
  expect(JSON.stringify(other)).not.toMatch(/hidden-upstream|mapped/)
  expect(adminOther).toMatchObject({
    is_model_mapped: true,
    upstream_model_name: 'hidden-upstream-model',
  })
})

it.each(['other-model', 'higher-cost'])('only admins see the anomaly %s', (anomaly) => {
  const { other, adminOther } = settled({ anomaly })
  expect(other).not.toHaveProperty('anomaly')
  expect(adminOther).toMatchObject({ anomaly })
})

it.each(['absurd', 'parts-exceed-whole'])('all users see the usage anomaly %s', (anomaly) => {
  const { other, adminOther } = settled({ anomaly })
  expect(other).toMatchObject({ anomaly })
  expect(adminOther).not.toHaveProperty('anomaly')
})

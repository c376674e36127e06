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

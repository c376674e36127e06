import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CallSettled } from '#domain/account/events.ts'
import { otherOfSettled } from '#projections/call-log/other.ts'

const GOLDEN = join(import.meta.dirname, '../../domain/golden/call-settled-v1.json')

it('the model that a channel maps to is in the part of a row that admins alone read', () => {
  const { data } = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { data: CallSettled['data'] }
  const mapped = { ...data, upstreamModel: 'hidden-upstream-model' }
  const { other, adminOther } = otherOfSettled(mapped)
  expect(JSON.stringify(other)).not.toMatch(/hidden-upstream|mapped/)
  expect(adminOther).toMatchObject({
    is_model_mapped: true,
    upstream_model_name: 'hidden-upstream-model',
  })
})

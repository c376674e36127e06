import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import {
  CLOCK_FIVE_MINUTES_BEHIND,
  type ProviderProcess,
  SHORT_LEASES,
  type Site,
  startProviderProcess,
  startSite,
} from '#test/support/multi-process-site.ts'
import { setOption, setUpSite } from '#test/support/test-product.ts'
import { callAtOnce } from './support/send-many-calls.ts'

let site: Site
let provider: ProviderProcess
let root: ConsoleClient
let key: string
beforeAll(async () => {
  ;[site, provider] = await Promise.all([
    startSite(),
    startProviderProcess({ firstByteMs: 1, gapMs: 500, answerTokens: 24 }),
  ])
  const office = await site.start('write-api,read-api,projections')
  root = await setUpSite(office.url)
  await setOption(root, 'ModelRatio', { 'sim-small': 1 })
  await root.must('POST', '/api/channel/', {
    ...{ name: 'slow', type: 1, key: 'sk-slow', base_url: provider.url },
    ...{ models: 'sim-small', group: 'default' },
  })
  key = (await root.createToken({ name: 'late', unlimited_quota: true })).key
})
afterAll(async () => {
  provider?.close()
  await site?.close()
})

it('the sweeper keeps the calls of a relay whose clock is five minutes behind', async () => {
  // The one whose clock is right comes first, and sweeps.
  const right = await site.start('relay', { NODE_OPTIONS: SHORT_LEASES })
  const late = await site.start('relay', {
    NODE_OPTIONS: `${SHORT_LEASES} ${CLOCK_FIVE_MINUTES_BEHIND}`,
  })
  const calls = await Promise.all(callAtOnce(2, [late.url, right.url], key))
  expect(calls.map(({ outcome }) => outcome)).toEqual(['whole', 'whole'])
  const rows = async () => {
    const { items } = await root.must<{ items: LogEntry[] }>('GET', '/api/log/self/?p=0')
    return items.filter(({ request_id }) => calls.some(({ requestId }) => requestId === request_id))
  }
  await expect.poll(async () => (await rows()).length).toBe(2)
  for (const row of await rows()) {
    expect(row).toMatchObject({ type: 2, completion_tokens: 24 })
    expect(Math.abs(row.created_at - Date.now() / 1_000)).toBeLessThan(60)
  }
})

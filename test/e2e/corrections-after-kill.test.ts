import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountStream, type ChargeCorrected } from '#domain/accounts/events.ts'
import { CORRECTIONS_STREAM } from '#domain/corrections/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { readConfig } from '#infra/config/read-config.ts'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { startCore } from '#infra/start-core.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { aCall, admitted, appendTo, granted, settledCall } from '#test/projections/fixture.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'
import type { CorrectionPreview } from '#write-api/contract/repricing-and-corrections.ts'

const ROLES = 'write-api,read-api,projections'
const USERS = Array.from({ length: 40 }, (_, index) => 1_001 + index)
/** Two batches of each account. */
const CALLS = 150

let site: Site
let store: EventStore
let closeCore: () => Promise<void>

beforeAll(async () => {
  site = await startSite()
  const environment = { ...site.environment, LOG_LEVEL: 'silent', PORT: '0', ROLES: 'projections' }
  const { core, close } = await startCore(readConfig(environment))
  store = core.store
  closeCore = close
})

afterAll(async () => {
  await closeCore?.()
  await site?.close()
})

async function correctedEvents(id: string): Promise<Recorded<ChargeCorrected>[]> {
  const streams = await Promise.all(USERS.map((user) => store.readStream(accountStream(user))))
  return (streams.flat() as Recorded<ChargeCorrected>[]).filter(
    ({ type, data }) => type === 'ChargeCorrected' && data.correctionId === id,
  )
}

async function seedCalls(second: number): Promise<void> {
  for (const userId of USERS) {
    const calls = Array.from({ length: CALLS }).flatMap(() => {
      const call = aCall({ userId, model: 'wrong', call: newCallId(second * 1_000) })
      return [admitted(call, second * 1_000), settledCall(call, 3_375, second * 1_000)]
    })
    await appendTo(store, [granted(userId, 2_000_000), ...calls])
  }
}

describe('a correction of 6 000 calls, whose process is killed while it is applied', () => {
  it('is completed by another process, and corrects each call once', async () => {
    const first = await site.start(ROLES)
    const root = await setUpSite(first.url)
    const second = Math.floor(Date.now() / 1_000) - 60
    await seedCalls(second)
    const scope = { from: second, to: second, model: 'wrong', price: { model_ratio: '0.625' } }
    const previewed = async (url: string) => {
      const client = url === root.url ? root : new ConsoleClient(url)
      if (client !== root) await client.logIn('root', PASSWORD)
      return client.call<CorrectionPreview>('POST', '/api/audit/corrections/preview', scope)
    }
    await expect
      .poll(async () => (await previewed(first.url)).data?.calls, { timeout: 60_000 })
      .toBe(USERS.length * CALLS)
    const { data } = await previewed(first.url)
    const body = { preview: data.preview, reason: 'a wrong price' }
    const applied = root.call('POST', '/api/audit/corrections', body).catch(() => null)
    await expect
      .poll(async () => (await correctedEvents(data.id)).length, { timeout: 30_000, interval: 5 })
      .toBeGreaterThan(0)
    await first.kill()
    await applied
    const half = (await correctedEvents(data.id)).length
    expect(half).toBeLessThan(USERS.length * 2)

    const other = await site.start(ROLES)
    const ends = async () => (await store.readStream(CORRECTIONS_STREAM)).map(({ type }) => type)
    const whole = ['CorrectionStarted', 'CorrectionFinished']
    await expect.poll(ends, { timeout: 90_000, interval: 500 }).toEqual(whole)
    const events = await correctedEvents(data.id)
    const calls = events.flatMap((event) => event.data.calls.map(({ call }) => call))
    expect([calls.length, new Set(calls).size]).toEqual([6_000, 6_000])
    const refunds = events.reduce((sum, event) => sum - event.data.amount, 0)
    expect(refunds).toBe(data.refunded)
    await expect
      .poll(async () => (await previewed(other.url)).data, { timeout: 30_000 })
      .toMatchObject({ calls: 0, refunded: 0, charged: 0 })
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import type { Role } from '#infra/config/config-types.ts'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type Running, startProduct } from '#infra/start.ts'
import { testConfig } from '#test/support/test-core.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Starts processes with some of the roles on one site. Each process has a separate port. */
async function site() {
  const { config, drop } = await testConfig()
  closers.push(drop)
  return async (...roles: readonly Role[]) => {
    const running = await startProduct({ ...config, roles: new Set(roles) })
    const stop = () => running.stop(0)
    closers.push(stop)
    return { running, stop }
  }
}

/**
 * Restores the tables of an earlier release, without the column and the table that were added
 * later. It changes the table of definitions, because the view changes none whose read model moves
 * on at this moment.
 */
const asEarlierRelease = ({ core }: Running) =>
  core.pg.query(`
    alter table read_balances.token_budgets drop column edits;
    drop table read_call_log.failed_calls;
    update projections.definition set definition = 'earlier' where name in ('balances', 'call-log')
  `)

const QUESTIONS = ['/api/token/?p=0', '/api/log/?failed_channel=1']

const answersOf = (client: ConsoleClient) =>
  Promise.all(
    QUESTIONS.map(async (path) => {
      const response = await fetch(`${client.url}${path}`, { headers: client.sessionHeaders })
      const { code, message } = (await response.json()) as { code?: string; message: string }
      return [response.status, response.headers.get('retry-after'), code, message]
    }),
  )

const REBUILDING = [
  ...[503, '10', 'Rebuilding'],
  'The read models are being rebuilt after an upgrade, please try again later',
]

describe('a request for read models that an upgrade rebuilds', () => {
  it('a process that starts first answers 503, and 200 after the rebuild', async () => {
    const start = await site()
    const before = await start('write-api', 'read-api', 'projections')
    await setUpSite(before.running.url)
    await asEarlierRelease(before.running)
    await before.stop()
    const reader = await start('write-api', 'read-api')
    const client = new ConsoleClient(reader.running.url)
    await client.logIn('root', PASSWORD)
    expect(await answersOf(client)).toEqual([REBUILDING, REBUILDING])
    expect((await client.call('GET', '/api/log/')).status).toBe(200)
    await start('projections')
    expect((await answersOf(client)).map(([status]) => status)).toEqual([200, 200])
  })

  it('a process of an earlier release answers 503 if the tables are newer', async () => {
    const start = await site()
    const { running } = await start('write-api', 'read-api', 'projections')
    const client = await setUpSite(running.url)
    expect((await answersOf(client)).map(([status]) => status)).toEqual([200, 200])
    await asEarlierRelease(running)
    expect(await answersOf(client)).toEqual([REBUILDING, REBUILDING])
  })

  it('a process answers 500 if the tables are of its release, so faults stay visible', async () => {
    const start = await site()
    const { running } = await start('write-api', 'read-api', 'projections')
    const client = await setUpSite(running.url)
    await running.core.pg.query('alter table read_balances.token_budgets drop column edits')
    const [[status] = []] = await answersOf(client)
    expect(status).toBe(500)
  })
})

import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type Site, startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { PASSWORD, setUpSite } from '#test/support/test-product.ts'

const ROLES = 'write-api,read-api,projections'

let site: Site
let first: ProductProcess
let root: ConsoleClient
let pg: Pool

beforeAll(async () => {
  site = await startSite()
  pg = new Pool({ connectionString: site.environment.DATABASE_URL, max: 4 })
  first = await site.start(ROLES)
  await setUpSite(first.url)
  root = new ConsoleClient(first.url)
  await root.logIn('root', PASSWORD)
})
afterAll(async () => {
  await pg?.end()
  await site?.close()
})

const countOf = async (text: string, values: unknown[] = []): Promise<number> =>
  Number((await pg.query<{ count: string }>(`select count(*) ${text}`, values)).rows[0]?.count)
const textsInVault = () => countOf(`from vault.secrets where purpose = 'message'`)
const deletedParts = () => countOf(`from event_store.events where type = 'InvoiceRequestsDeleted'`)
const lines = () => countOf('from read_reconciliation.lines')

/**
 * Kills the process while it waits for a lock on the table, and ends the waiting statements, so
 * that they write nothing.
 */
async function killBeforeWrite(
  table: string,
  isReached: () => Promise<boolean>,
  send: () => Promise<unknown>,
) {
  const client = await pg.connect()
  try {
    await client.query(`begin; lock table ${table} in share mode`)
    const answer = send().catch(() => null)
    await expect.poll(isReached, { interval: 5 }).toBe(true)
    await first.kill()
    await answer
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
  } finally {
    await client.query('rollback')
    client.release()
  }
}

describe('a process that starts after another one was killed', () => {
  it('continues the removal of the rows of a deleted invoice', async () => {
    const channel = { name: 'invoiced', type: 1, key: 'sk-x', models: 'm', group: 'default' }
    await root.must('POST', '/api/channel/', channel)
    const { items } = await root.must<{ items: { id: number }[] }>('GET', '/api/channel/')
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const rows = Array.from({ length: 60_000 }, (_, n) => `${day},m,0.001,request-${n}`)
    const columns = { day: 'd', model: 'm', amount: 'a', request_id: 'id' }
    const query = new URLSearchParams({ channel_id: String(items[0]?.id), ...columns })
    const imported = await fetch(`${first.url}/api/audit/invoices?${query}`, {
      method: 'POST',
      headers: { ...root.sessionHeaders, 'content-type': 'text/csv' },
      body: `d,m,a,id\n${rows.join('\n')}`,
    })
    const { data } = (await imported.json()) as { data: { id: string } }
    // The read model can't follow, so the removal waits after its first parts.
    await killBeforeWrite(
      'read_reconciliation.lines',
      async () => (await deletedParts()) > 1,
      () => root.call('DELETE', `/api/audit/invoices/${data.id}`),
    )
    expect(await deletedParts()).toBeLessThan(600)
    expect(await lines()).toBeGreaterThan(0)
    await first.start()
    await expect.poll(lines, { timeout: 60_000 }).toBe(0)
  })

  it('deletes the text of a message whose event was not written', async () => {
    const signedIn = new ConsoleClient(first.url)
    await signedIn.logIn('root', PASSWORD)
    const message = { title: 'About zirkon', content: 'zirkon', everybody: true }
    await signedIn.must('POST', '/api/admin/messages', message)
    const before = await textsInVault()
    await killBeforeWrite(
      'event_store.events',
      async () => (await textsInVault()) > before,
      () => signedIn.call('POST', '/api/admin/messages', message),
    )
    expect(await textsInVault()).toBe(before + 1)
    // A text is kept for an hour, because its event may still be written.
    await pg.query(`update vault.secrets set made_at = made_at - interval '2 hours'`)
    await site.start(ROLES)
    await expect.poll(textsInVault, { timeout: 60_000 }).toBe(before)
  })
})

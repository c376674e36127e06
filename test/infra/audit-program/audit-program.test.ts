import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runningServer } from '#infra/postgres/embedded-database-folder.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { addUser, type TestProduct, testProduct } from '#test/support/test-product.ts'
import { environmentOf, runVerb } from './run-verb.ts'

const PROGRAM = join(import.meta.dirname, '../../../infra/audit-program/audit-program.ts')

let product: TestProduct
let userId: number
let folder: string

beforeAll(async () => {
  product = await testProduct()
  userId = (await addUser(product.root, 'customer', 500_000)).id
  folder = mkdtempSync(join(tmpdir(), 'audit-program-'))
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await product.close()
})

const environment = () => environmentOf(product.running.core.config)

/**
 * Starts the program as a process, against the running site. A process that starts costs more than
 * most verbs, so the tests of the verbs use `run`.
 */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { ...environment(), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  })
  const [output, errors] = [text(child.stdout), text(child.stderr)]
  const [status] = await once(child, 'close')
  return { status, output: await output, errors: await errors }
}

/** Runs a verb against the running site, in this process. */
const run = (...args: string[]) => runVerb(args, environment())

describe('npm run audit', { timeout: 180_000 }, () => {
  it('lists its verbs, explains each, and answers wrong arguments with 2', async () => {
    expect(await start('--help')).toMatchObject({
      ...{ status: 0, output: expect.stringContaining('statement USER'), errors: '' },
    })
    expect(await run('export', '--help')).toMatchObject({ status: 0 })
    expect(await start('nothing')).toMatchObject({
      ...{ status: 2, output: '', errors: expect.stringMatching(/verb/) },
    })
    expect(await run('balance')).toMatchObject({ status: 2 })
    expect(await run('balance', '1', '--at', 'noon')).toMatchObject({ status: 2 })
    expect(await run('statement', '1', '--month', '2026-13')).toMatchObject({ status: 2 })
    expect(await run('replay', 'nothing')).toMatchObject({ status: 2 })
    expect(await run('replay', 'users', '--until', '5')).toMatchObject({ status: 2 })
    expect(await run('replay', '--until', '999999')).toMatchObject({ status: 2 })
    expect(await run('verify', join(folder, 'nowhere.tar'))).toMatchObject({ status: 2 })
  })

  it('refuses positions after the last event', async () => {
    const target = join(folder, 'refused')
    for (const args of [
      ['ledger', String(userId), '--from', '999999'],
      ['recompute', '--from', '999999'],
      ['export', target, '--from', '999999'],
    ]) {
      const errors = expect.stringContaining('999999')
      expect([args, await run(...args)]).toEqual([args, { status: 2, output: '', errors }])
    }
    expect(existsSync(target)).toBe(false)
  })

  it('prints the receipts of an account and of an event', async () => {
    const { id } = await addUser(product.root, 'recipient', 1_000)
    await product.root.must('POST', '/api/user/quota', {
      ...{ id, action: 'add', amount: 1_000, reason: 'a gift', request_id: 'gift' },
    })
    const ofAccount = await run('receipt', String(id))
    const { items, last_revision: last } = JSON.parse(ofAccount.output)
    expect([ofAccount.status, items.length]).toEqual([0, last + 1])
    expect(items[0].record).toMatchObject({ stream: `account-${id}`, revision: 0 })
    const first = await run('receipt', String(id), '--to', '0')
    expect(JSON.parse(first.output)).toMatchObject({ items: [{}], last_revision: last })
    expect(last).toBeGreaterThan(0)
    const { position } = items[0].record
    const ofEvent = await run('receipt', '--position', String(position))
    expect(JSON.parse(ofEvent.output).items[0].leaf_hash).toBe(items[0].leaf_hash)
    for (const args of [[], ['x'], ['1', '--from', '3', '--to', '2'], ['--position', '999999']]) {
      expect(await run('receipt', ...args)).toMatchObject({ status: 2, output: '' })
    }
    const tooLarge = await run('receipt', String(id), '--since-size', '999999')
    expect(tooLarge).toMatchObject({ status: 2, output: '' })
    expect(tooLarge.errors).toMatch(/^--since-size is 999999, but the tree has only \d+ leaves\n$/)
  })

  it('says in one line that the event of a receipt was changed after it was sealed', async () => {
    const { pg } = product.running.core
    const sealed = async () =>
      (await pg.query('select from transparency_log.checkpoints where last_position >= 2')).rowCount
    await expect.poll(sealed).toBeGreaterThan(0)
    const change = (data: string) =>
      pg.query(`update event_store.events set data = ${data} where position = 2`)
    await change(`data || ' '`)
    const refused = await run('receipt', '--position', '2')
    await change('rtrim(data)')
    const errors = 'the event at position 2 is not the one that was sealed\n'
    expect(refused).toEqual({ status: 1, output: '', errors })
    expect(await run('receipt', '--position', '2')).toMatchObject({ status: 0, errors: '' })
  })

  it('rebuilds lost tiles of the log, but not from an event that was changed', async () => {
    const { pg } = product.running.core
    const sealed = async () => (await pg.query('select from transparency_log.tiles')).rowCount
    await expect.poll(sealed).toBeGreaterThan(0)
    const loseTiles = () => pg.query('delete from transparency_log.tiles')
    const editActor = (actor: string) =>
      pg.query(`update event_store.events set actor = ${actor} where position = 1`)
    await editActor("actor || ' '")
    await loseTiles()
    const refused = await run('rebuild-tiles')
    expect([refused.status, refused.output]).toEqual([1, expect.stringContaining('position 1 to')])
    expect(await sealed()).toBe(0)
    await editActor('rtrim(actor)')
    const rebuilt = await run('rebuild-tiles', '--json')
    expect(rebuilt.status).toBe(0)
    expect(JSON.parse(rebuilt.output)).toMatchObject({
      ...{ lost: 1, tiles: ['0/0'], is_rebuilt: true, finding_count: 0 },
    })
    expect(await run('rebuild-tiles')).toMatchObject({ status: 0, output: 'No tile is lost.\n' })
  })

  it('refuses a time without a zone, which would depend on the machine', async () => {
    for (const at of ['2026-11-28T09:00', '28 Nov', '2026-13-01']) {
      const refused = await run('balance', String(userId), '--at', at)
      expect(refused).toMatchObject({ status: 2, output: '' })
    }
    const early = await run('balance', String(userId), '--at', '2020-01-01T00:00+08:00', '--json')
    expect(JSON.parse(early.output)).toMatchObject({ total: 0 })
  })

  it('finds a user by name in the site, and refuses unknown names', async () => {
    const found = await run('balance', 'customer', '--json')
    expect(JSON.parse(found.output)).toMatchObject({ user_id: userId, total: 500_000 })
    const unknown = await run('balance', 'nobody-here')
    expect(unknown).toMatchObject({ status: 2, output: '' })
    expect(unknown.errors).toContain('"nobody-here"')
  })

  it('shows balance, ledger and statement, from the site and from an export', async () => {
    const target = join(folder, 'export')
    expect(await run('export', target, '--json')).toMatchObject({ status: 0 })
    const month = new Date().toISOString().slice(0, 7)
    for (const source of [[], ['--export', target]]) {
      const balance = await run('balance', String(userId), '--json', ...source)
      expect(JSON.parse(balance.output)).toMatchObject({ user_id: userId, total: 500_000, held: 0 })
      const beyond = await run('balance', String(userId), '--at', '999999', ...source)
      expect(beyond).toMatchObject({ status: 2, output: '' })
      const before = await run('balance', String(userId), '--at', '1', '--json', ...source)
      expect(JSON.parse(before.output)).toMatchObject({ total: 0 })
      const ofMonth = ['--month', month, '--json', ...source]
      const statement = await run('statement', String(userId), ...ofMonth)
      const { opening, closing, items } = JSON.parse(statement.output)
      expect([opening.total, closing.total]).toEqual([0, 500_000])
      expect(items.at(-1)).toMatchObject({ total: 500_000 })
      // A movement names what caused it, such as the call or the grant.
      expect(items.every(({ source: cause }: { source: string }) => cause !== '')).toBe(true)
      const ledger = await run('ledger', String(userId), ...source)
      expect(ledger.output).toContain(items.at(-1).source)
      expect(ledger.output).toContain('closing total 500000')
    }
  })

  it('continues an export that was interrupted, and verifies it', async () => {
    const target = join(folder, 'continued')
    expect(await run('export', target, '--to', '5')).toMatchObject({ status: 0 })
    writeFileSync(join(target, 'segments/000000000001-000000000003.ndjson.gz'), 'other')
    expect(await run('export', target)).toMatchObject({ status: 0 })
    expect(readdirSync(join(target, 'segments'))).toHaveLength(1)
    expect(await start('verify', target)).toMatchObject({
      ...{ status: 0, output: expect.stringContaining('Nothing was found.') },
    })
  })

  it('recomputes the charges of calls, and shows who signed the last checkpoint', async () => {
    const { pg } = product.running.core
    const recomputed = await run('recompute', '--json')
    expect(recomputed.status).toBe(0)
    expect(JSON.parse(recomputed.output)).toMatchObject({ calls: 0, different: 0 })
    for (;;) {
      const { rows } = await pg.query('select 1 from transparency_log.checkpoints limit 1')
      if (rows.length > 0) break
      await delay(100)
    }
    const witness = await run('witness', '--json')
    expect(witness.status).toBe(0)
    expect(JSON.parse(witness.output)).toMatchObject({ quorum: 0, signers: [{ has_signed: true }] })
    expect(await run('verify-receipt')).toMatchObject({ status: 2 })
    expect(await run('verify-receipt', join(folder, 'nowhere.json'), '--key', 'x')).toMatchObject({
      status: 2,
    })
  })

  it('verifies the running site and rebuilds a read model that was edited', async () => {
    const { pg } = product.running.core
    expect(await run('verify', '--json')).toMatchObject({ status: 0 })
    await pg.query('update read_balances.accounts set balance = 1 where user_id = $1', [userId])
    const found = await start('verify')
    expect(found).toMatchObject({ status: 1, output: expect.stringContaining(`user ${userId}`) })
    expect(await run('replay', 'balances', 'users')).toMatchObject({ status: 0 })
    expect(await run('verify', '--incremental')).toMatchObject({ status: 0 })
    const self = await product.root.must<{ quota: number }>('GET', `/api/user/${userId}`)
    expect(self.quota).toBe(500_000)
  })
})

it('copies the read models as of a position, for the console', async () => {
  const { status, output } = await run('replay', '--until', '5', '--json')
  const copy = JSON.parse(output)
  expect([status, copy]).toEqual([0, expect.objectContaining({ position: 5, is_ready: true })])
  const { items } = await product.root.must<{ items: object[] }>(
    ...(['GET', '/api/audit/scratch-copies'] as const),
  )
  expect(items).toMatchObject([{ id: copy.id, status: 'ready', position: 5 }])
})

describe('the database of a running site', { timeout: 60_000 }, () => {
  it('is found in its data folder while it runs', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'running-server-'))
    const log = createLog('silent')
    const server = await startEmbeddedPostgres({ dataDir, log, durable: false })
    expect(runningServer(dataDir)).toBe(server.connectionString)
    await server.stop()
    expect(runningServer(dataDir)).toBeNull()
    rmSync(dataDir, { recursive: true, force: true })
  })
})

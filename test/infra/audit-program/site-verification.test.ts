import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { postgresRecords } from '#infra/audit-program/stored-record-reader.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { type VerifySiteOptions, verifySite } from '#infra/audit-program/verify-site-data.ts'
import { CHANNEL } from '#infra/event-store/postgres-schema.ts'
import { createPostgresSnapshots } from '#infra/event-store/snapshots.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import type { Rebuild, Verification } from '#read-api/contract/verifications.ts'
import {
  addChannel,
  addUser,
  chat,
  setOption,
  type TestProduct,
  testProduct,
} from '#test/support/test-product.ts'
import { checkpointSigner } from './checkpoint-signer.ts'

let product: TestProduct
let userId: number
let runningSince: number

beforeAll(async () => {
  runningSince = Date.now()
  product = await testProduct()
  const { root } = product
  await addChannel(product)
  await setOption(root, 'ModelRatio', { 'sim-small': 1, 'sim-large': 2 })
  const user = await addUser(root, 'customer', 500_000)
  userId = user.id
  const { key } = await user.client.createToken({ name: 'key', unlimited_quota: true })
  for (let calls = 0; calls < 3; calls += 1) await chat(product.url, key, {})
  await root.must('POST', '/api/user/quota', {
    ...{ id: userId, action: 'add', amount: 1_000, reason: 'a gift', request_id: 'gift' },
  })
}, 180_000)

afterAll(() => product.close())

const sql = (text: string, values: unknown[] = []) => product.running.core.pg.query(text, values)

async function ended<Job extends Verification | Rebuild>(path: string, id: string): Promise<Job> {
  for (;;) {
    const { items } = await product.root.must<{ items: Job[] }>('GET', path)
    const job = items.find((one) => one.id === id)
    if (job !== undefined && ['finished', 'failed'].includes(job.status)) return job
    await delay(200)
  }
}

/** Requests a verification as an admin does, and waits until the product has made it. */
async function requestVerification(mode: 'full' | 'incremental'): Promise<Verification> {
  const body = { mode }
  const { id } = await product.root.must<{ id: string }>('POST', '/api/audit/verifications', body)
  return await ended<Verification>('/api/audit/verifications', id)
}

/**
 * Verifies as the product does, without a request. The product looks for requests only every two
 * seconds, so that most of the time of a requested verification is spent waiting.
 */
async function verify(mode: 'full' | 'incremental', more: Partial<VerifySiteOptions> = {}) {
  const { core } = product.running
  const { findings, ...result } = await verifySite(core, { mode, runningSince, ...more })
  return { ...result, findingCount: findings.total(), findings: findings.list() }
}

/** Rebuilds read models as the product does, without a request. */
async function rebuild(names: readonly ProjectionName[]): Promise<void> {
  await product.running.projections?.rebuild(names)
}

/** Seals all events, so that none is sealed while a test has changed it. */
async function sealAll(): Promise<void> {
  const { core } = product.running
  const log = await openTransparencyLog(core)
  const deps = { pg: core.pg, log, readLeaves: leafReader(core), arePositionsDense: true }
  while ((await sealEvents({ ...deps, now: core.now })) > 0);
}

describe('the verification of a site', { timeout: 180_000 }, () => {
  it('finds nothing in what the product recorded, and continues where it ended', async () => {
    const full = await requestVerification('full')
    expect(full).toMatchObject({ mode: 'full', status: 'finished', findings: [], from_position: 0 })
    const made = full.checks.map(({ check }) => check)
    expect(made).toEqual(expect.arrayContaining(['prices', 'call-ends', 'read-models']))
    const next = await requestVerification('incremental')
    expect(next).toMatchObject({ mode: 'incremental', from_position: full.to_position })
    expect(next.finding_count).toBe(0)
    const one = await product.root.must('GET', `/api/audit/verifications/${next.id}`)
    expect(one).toEqual(next)
    const unknown = await product.root.call('GET', '/api/audit/verifications/nothing')
    expect(unknown.status).toBe(404)
  })

  it('names the user whose balance was edited by SQL, and a rebuild repairs the row', async () => {
    await sql('update read_balances.accounts set balance = balance + 7 where user_id = $1', [
      userId,
    ])
    const { findings } = await requestVerification('incremental')
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject({ check: 'read-models', stream: `account-${userId}` })
    const asked = await product.root.call('POST', '/api/audit/rebuilds', { read_models: ['x'] })
    expect([asked.status, asked.message]).toEqual([400, expect.stringContaining('read_models')])
    const body = { read_models: ['balances'] }
    const { id } = await product.root.must<{ id: string }>('POST', '/api/audit/rebuilds', body)
    const done = await ended<Rebuild>('/api/audit/rebuilds', id)
    expect(done).toMatchObject({ status: 'finished', read_models: [{ name: 'balances' }] })
    expect((await verify('incremental')).findings).toEqual([])
  })

  it('names the rows of the ledger that were edited by SQL, and what differs', async () => {
    const { rows } = await sql(
      'select * from read_ledger.movements where user_id = $1 order by position',
      [userId],
    )
    const [edited, removed] = rows
    const at = 'where user_id = $1 and position = $2'
    await sql(`update read_ledger.movements set amount = amount + 7, model = 'x' ${at}`, [
      ...[userId, edited.position],
    ])
    await sql(`delete from read_ledger.movements ${at}`, [userId, removed.position])
    const { findings } = await verify('full')
    await rebuild(['ledger'])
    const place = ({ position, revision }: { position: string; revision: string }) => ({
      ...{ check: 'read-models', stream: `account-${userId}` },
      ...{ position: Number(position), revision: Number(revision) },
    })
    const detailWith = (detail: string) => ({ detail: expect.stringContaining(detail) })
    expect(findings).toContainEqual(
      expect.objectContaining({ ...place(edited), ...detailWith('in model, amount') }),
    )
    expect(findings).toContainEqual(
      expect.objectContaining({ ...place(removed), ...detailWith('is missing') }),
    )
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  const EDITED_ROWS = [
    ['the used quota', 'balances', 'accounts', 'used_quota = used_quota + 7', 'used_quota'],
    ['the count of requests', 'balances', 'accounts', 'request_count = 0', 'request_count'],
    ['the budget of a token', 'balances', 'token_budgets', 'remain = remain + 7', 'remain'],
    ['a movement', 'ledger', 'movements', 'amount = amount + 7', 'amount'],
    ['the sums of a day', 'ledger', 'account_days', 'amount = amount + 7', 'amount'],
  ] as const
  it.each(EDITED_ROWS)('names %s that was edited by SQL in an incremental run', async (...edit) => {
    const [, readModel, table, set, column] = edit
    expect(await verify('incremental')).toMatchObject({ mode: 'incremental', findingCount: 0 })
    const name = `read_${readModel}.${table}`
    const { rows } = await sql(`select * from ${name} where user_id = $1`, [userId])
    expect(rows).not.toEqual([])
    await sql(`update ${name} set ${set} where user_id = $1`, [userId])
    const { findings, mode } = await verify('incremental')
    await rebuild([readModel])
    expect(mode).toBe('incremental')
    expect(findings).not.toEqual([])
    for (const { check, stream, detail } of findings) {
      expect([check, stream]).toEqual(['read-models', `account-${userId}`])
      expect(detail).toMatch(new RegExp(`\\b${table}\\b.*\\b${column}\\b`))
    }
    expect(await verify('incremental')).toMatchObject({ mode: 'incremental', findingCount: 0 })
  })

  it('compares the other accounts in an incremental run if one cannot be folded', async () => {
    const { id: otherId } = await addUser(product.root, 'other', 1_000)
    await sealAll()
    expect(await verify('incremental')).toMatchObject({ mode: 'incremental', findingCount: 0 })
    const where = `where position = (select max(position) from event_store.events
      where stream = $1 and type = 'CallSettled')`
    const stream = `account-${userId}`
    const { rows } = await sql(`select data from event_store.events ${where}`, [stream])
    const setData = (data: string) =>
      sql(`update event_store.events set data = $2 ${where}`, [stream, data])
    const addUsed = (more: number) => {
      const text = 'update read_balances.accounts set used_quota = used_quota + $2'
      return sql(`${text} where user_id = $1`, [otherId, more])
    }
    await setData('{}')
    await addUsed(7)
    const { findings, mode } = await verify('incremental')
    await addUsed(-7)
    await setData(rows[0].data)
    expect(mode).toBe('incremental')
    const named = findings.filter(({ check }) => check === 'read-models')
    expect(named.map((one) => one.stream).sort()).toEqual([stream, `account-${otherId}`].sort())
    expect(await verify('incremental')).toMatchObject({ mode: 'incremental', findingCount: 0 })
  })

  it('names the stream of a snapshot that was changed by SQL, in a full run', async () => {
    const { core } = product.running
    const snapshots = await createPostgresSnapshots(core)
    const snapshot = { version: 1, revision: 3, position: 9, state: { total: 4 } }
    const streams = Array.from({ length: 201 }, (_, index) => `snapshot-${index + 1_000}`)
    for (const stream of streams) await snapshots.save(stream, snapshot)
    const last = "where stream = 'snapshot-1200'"
    await sql(`update snapshots.states set state = '{"total":400}' ${last}`)
    const { findings } = await verify('full')
    await sql("delete from snapshots.states where stream like 'snapshot-1%'")
    expect(findings).toMatchObject([
      { check: 'snapshots', stream: 'snapshot-1200', position: null, revision: null },
    ])
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('names an event that was changed by SQL, and notifies the admins once', async () => {
    await sealAll()
    const where = `where position = (select max(position) from event_store.events
      where type = 'CallSettled')`
    const { rows } = await sql(`select position, data from event_store.events ${where}`)
    const [{ position, data }] = rows
    const more = data.replace(/"charge":\d+/, '"charge":1')
    await sql(`update event_store.events set data = $1 ${where}`, [more])
    const { findings } = await requestVerification('full')
    expect(findings.map((one) => one.position)).toContain(Number(position))
    const notices = async () => {
      const { items } = await product.root.must<{ items: { title: string }[] }>(
        ...(['GET', '/api/user/messages'] as const),
      )
      return items.filter(({ title }) => title.includes('A verification has'))
    }
    while ((await notices()).length === 0) await delay(100)
    await sql(`update event_store.events set data = $1 ${where}`, [data])
    expect((await verify('full')).findings).toEqual([])
  })

  it('names a damaged result of an earlier verification, and every other finding', async () => {
    await requestVerification('full')
    await sealAll()
    const positionOf = async (type: string) => {
      const text = 'select max(position) as position from event_store.events where type = $1'
      return Number((await sql(text, [type])).rows[0].position)
    }
    const positions = [await positionOf('VerificationFinished'), await positionOf('CallSettled')]
    const damaged = 'where position = any($1)'
    await sql(
      `create table kept_data as select position, data from event_store.events ${damaged}`,
      [positions],
    )
    await sql(`update event_store.events set data = '{}' ${damaged}`, [positions])
    const { status, findings } = await requestVerification('full')
    await sql(`update event_store.events e set data = k.data from kept_data k
      where k.position = e.position; drop table kept_data`)
    expect(status).toBe('finished')
    expect(findings.map(({ position }) => position)).toEqual(expect.arrayContaining(positions))
    expect(await requestVerification('full')).toMatchObject({ finding_count: 0 })
  })

  it('has its findings also if a later check fails, and says that it stopped', async () => {
    await sealAll()
    const { core } = product.running
    const query = (first: unknown, ...others: unknown[]) => {
      if (String(first).includes('snapshots.states')) throw new TypeError('broken')
      return core.pg.query(first as string, ...(others as []))
    }
    const pg = new Proxy(core.pg, {
      get: (pool, name) => (name === 'query' ? query : Reflect.get(pool, name, pool)),
    })
    const edit = (actor: string) =>
      sql(`update event_store.events set actor = ${actor} where position = 7`)
    await edit("actor || ' '")
    const stopped = await verifySite({ ...core, pg }, { mode: 'full', runningSince: 0 })
    await edit('rtrim(actor)')
    const found = stopped.findings.list()
    expect(found).toContainEqual(expect.objectContaining({ position: 7 }))
    expect(found.at(-1)).toMatchObject({
      ...{ check: 'records', position: null, code: 'VerificationStopped' },
      params: { reason: 'the process reports TypeError' },
    })
    expect(stopped.toPosition).toBeGreaterThan(7)
  })

  it('finds that the last event was deleted, by the counts of the store', async () => {
    await sealAll()
    const { rows } = await sql(`delete from event_store.events where position =
      (select max(position) from event_store.events) returning *`)
    const [row] = rows
    const { findings } = await verify('full')
    const columns = Object.keys(row)
    const places = columns.map((_, index) => `$${index + 1}`)
    await sql(`insert into event_store.events (${columns}) values (${places})`, Object.values(row))
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['positions', 'revisions']),
    )
  })

  it('names an event that differs from its seal, and a checkpoint of another key', async () => {
    await sealAll()
    const where = 'where position = 7'
    const { rows } = await sql(`select actor from event_store.events ${where}`)
    await sql(`update event_store.events set actor = actor || ' ' ${where}`)
    const { findings } = await verify('full')
    await sql(`update event_store.events set actor = $1 ${where}`, [rows[0].actor])
    expect(findings[0]).toMatchObject({ check: 'transparency-log', position: 7 })
    await sql(`create table kept as table transparency_log.checkpoints`)
    const { rows: logs } = await sql('select origin from transparency_log.log')
    const other = checkpointSigner(logs[0].origin).sign(1, Buffer.alloc(32)).split('\n\n')[1]
    await sql(
      `update transparency_log.checkpoints set signatures = array[$1]
       where size = (select max(size) from kept)`,
      [`${other}`],
    )
    const resigned = await verify('full')
    await sql(`update transparency_log.checkpoints c set signatures = k.signatures
      from kept k where k.size = c.size`)
    expect(resigned.findings.map(({ check }) => check)).toContain('signed-checkpoints')
    const { findingCount: after, root, treeSize: size } = await verify('full')
    expect([after, root]).toEqual([0, expect.stringMatching(/^.{43}=$/)])
    expect(size).toBeGreaterThanOrEqual(10)
  })

  it('names the range of an event that was changed together with its tile', async () => {
    await sealAll()
    const [record] = await postgresRecords(product.running.core.pg).read(6, 1)
    if (record === undefined) throw new Error('there is no event 7')
    const { rows } = await sql('select hashes from transparency_log.tiles where level = 0')
    const setActorAndHash = (actor: string, hash: Buffer) =>
      sql(
        `with edited as (update event_store.events set actor = $1 where position = 7)
          update transparency_log.tiles set hashes = overlay(hashes placing $2 from 6 * 32 + 1)
          where level = 0 and index = 0`,
        [actor, hash],
      )
    // The last checkpoint before event 7, and the first one that covers it.
    const { rows: places } = await sql(`select
      coalesce(max(last_position) filter (where last_position < 7), 0)::int4 + 1 as "from",
      min(last_position) filter (where last_position >= 7)::int4 as "to",
      coalesce(max(size) filter (where last_position < 7), 0)::int4 as agreed,
      min(size) filter (where last_position >= 7)::int4 as size
      from transparency_log.checkpoints`)
    const actor = `${record.actor} `
    await setActorAndHash(actor, leafHash({ ...record, actor }))
    const { findings } = await verify('full')
    await setActorAndHash(record.actor, rows[0].hashes.subarray(6 * 32, 7 * 32))
    const ranges = findings.filter(({ code }) => code === 'EventsDifferFromCheckpoints')
    expect(ranges).toHaveLength(1)
    const { count, ...range } = ranges[0]?.params ?? {}
    expect(range).toEqual(places[0])
    expect(Number(count)).toBeGreaterThan(1)
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('names a lost tile of the log, and no event', async () => {
    await sealAll()
    await sql(`select from transparency_log.log for update;
      create table kept_tiles as table transparency_log.tiles;
      delete from transparency_log.tiles where level = 0`)
    const incremental = await verify('incremental')
    const { findings } = await verify('full')
    await sql('delete from transparency_log.tiles')
    await sql('insert into transparency_log.tiles table kept_tiles; drop table kept_tiles')
    // A tree that cannot be computed is no other tree.
    for (const found of [incremental.findings, findings]) {
      const details = found.map(({ detail }) => detail).join('\n')
      expect(details).toMatch(
        /the first \d+ events cannot be compared, because tile 0\/0 of the log/,
      )
      expect(details).not.toMatch(/another log|is not the one that was verified/)
    }
    const ofLog = findings.filter(({ check }) => check === 'transparency-log')
    expect(ofLog[0]?.detail).toMatch(/^tile 0 of the log is missing .* number 1 to \d+$/)
    expect(ofLog.filter(({ detail }) => detail.includes('differs'))).toEqual([])
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('names an event that was removed, although the read models need it', async () => {
    await sealAll()
    const removed = `with removed as (delete from event_store.events where position =
      (select max(position) from event_store.events where type = 'CallAdmitted') returning *)
      insert into kept_event table removed`
    await sql(`create table kept_event as table event_store.events with no data; ${removed}`)
    const { findings } = await verify('full')
    await sql('insert into event_store.events table kept_event')
    const { rows } = await sql('select position from kept_event')
    const next = Number(rows[0].position) + 1
    expect(findings).toContainEqual(expect.objectContaining({ check: 'positions', position: next }))
    expect(findings.at(-1)?.detail).toContain("the events can't be folded")
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('names an edited checkpoint, and an event that is not sealed since then', async () => {
    await sealAll()
    const where = 'where size = (select max(size) from transparency_log.checkpoints)'
    const { rows } = await sql(`select body from transparency_log.checkpoints ${where}`)
    await sql(`update transparency_log.checkpoints set body = 'x' ${where}`)
    await setOption(product.root, 'Notice', { text: 'not sealed' })
    const last = 'where position = (select max(position) from event_store.events)'
    const moved = `update event_store.events set at = at + $1 ${last} returning position`
    const { rows: events } = await sql(moved, [-400_000])
    const { findings } = await verify('full')
    await sql(`update event_store.events set at = at + 400000 where position = $1`, [
      events[0].position,
    ])
    await sql(`update transparency_log.checkpoints set body = $1 ${where}`, [rows[0].body])
    expect(findings[0]).toMatchObject({
      ...{ check: 'signed-checkpoints', detail: 'the checkpoint is not signed' },
    })
    expect(findings).toContainEqual(
      expect.objectContaining({
        ...{ check: 'transparency-log', position: Number(events[0].position) },
        detail: expect.stringContaining('events are sealed'),
      }),
    )
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('notices a log that was emptied and begun again', async () => {
    await sealAll()
    // Its recorded result names the log.
    expect(await requestVerification('full')).toMatchObject({ finding_count: 0 })
    const tables = ['log', 'tiles', 'checkpoints']
    const forAll = (statement: (table: string) => string) => tables.map(statement).join(';')
    const edit = (actor: string) =>
      `update event_store.events set actor = ${actor} where position = 7`
    // Several statements in one query are one transaction, which the sealer cannot see in between.
    const empty = forAll(
      (table) => `create table kept_${table} as table transparency_log.${table};
        delete from transparency_log.${table}`,
    )
    await sql(`${empty}; ${edit("actor || ' '")}`)
    await sealAll()
    const { findings } = await verify('full')
    const restored = forAll(
      (table) => `delete from transparency_log.${table};
        insert into transparency_log.${table} table kept_${table}`,
    )
    await sql(`${edit('rtrim(actor)')}; ${restored}`)
    expect(findings).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('had found another log') }),
    )
  })

  it('trusts no stored state that was edited by SQL', async () => {
    await verify('full')
    const edit = (byte: string) =>
      sql(`update audit_jobs.verified_parts set bytes = set_byte(bytes, 100, ${byte})
        where section = 0 and part = 0`)
    await edit('get_byte(bytes, 100) # 1')
    expect(await verify('incremental')).toMatchObject({ mode: 'full', findingCount: 0 })
  })

  it('has its result also if its state cannot be stored', async () => {
    const { toPosition: stored } = await verify('full')
    const table = 'alter table audit_jobs.verified_parts'
    await sql(`${table} add constraint broken check (part < 0) not valid`)
    const next = await verify('incremental')
    await sql(`${table} drop constraint broken`)
    expect(next).toMatchObject({ mode: 'incremental', findingCount: 0 })
    const again = await verify('incremental')
    expect(again).toMatchObject({ mode: 'incremental', fromPosition: stored })
    expect(again.findingCount).toBe(0)
  })

  it('says that balances were not compared if their read model stands still', async () => {
    const client = await product.running.core.pg.connect()
    try {
      // The projection waits for this lock with its next events, as for a slow database.
      await client.query('begin')
      await client.query(
        "select from projections.checkpoint where name = 'balances' order by lane for update",
      )
      await setOption(product.root, 'Notice', { text: 'not in the balances yet' })
      const more = { balancesWithinMs: 500 }
      const { findings, toPosition: position } = await verify('incremental', more)
      expect(findings).toMatchObject([
        {
          ...{ check: 'read-models', position: null, stream: null },
          detail: `balances did not reach position ${position} in time, so they were not compared`,
        },
      ])
    } finally {
      await client.query('rollback')
      client.release()
    }
    expect(await verify('incremental')).toMatchObject({ findingCount: 0 })
  })

  // The following tests move events while the product reads them. Its read models may differ
  // afterwards, so full verifications come before.
  const CHANGED_EARLIER = [
    ['one changed byte', "update event_store.events set actor = actor || ' ' where position = 7"],
    ['a deleted event', 'delete from event_store.events where position = 7'],
    [
      'swapped events',
      `update event_store.events set position = 100000 where position = 7;
       update event_store.events set position = 7 where position = 8;
       update event_store.events set position = 8 where position = 100000`,
    ],
    [
      'an inserted event',
      `update event_store.events set position = position + 100000
         where position >= 7;
       update event_store.events set position = position - 99999 where position > 100000;
       insert into event_store.events select 7, 'x-1', 0, gen_random_uuid(), type, v, data, actor,
         cause, at from event_store.events where position = 6;
       update event_store.head set position = position + 1`,
    ],
    [
      'a removed stream',
      `delete from event_store.streams s using event_store.events e
         where e.position = 7 and e.stream = s.stream;
       delete from event_store.events where stream =
         (select stream from event_store.events where position = 7)`,
    ],
  ] as const

  it.each(CHANGED_EARLIER)('names %s before the last verified position', async (_, attack) => {
    await sealAll()
    expect(await verify('incremental')).toMatchObject({ findingCount: 0 })
    const tables = ['events', 'streams', 'head']
    const forAll = (statement: (table: string) => string) => tables.map(statement).join(';')
    await sql(forAll((table) => `create table kept_${table} as table event_store.${table}`))
    let findings: readonly { check: string; position: number | null }[]
    try {
      await sql(`${attack}; select pg_notify('${CHANNEL}', position::text) from event_store.head`)
      findings = (await verify('incremental')).findings
    } finally {
      await sql(
        forAll(
          (table) => `delete from event_store.${table};
            insert into event_store.${table} table kept_${table}; drop table kept_${table}`,
        ),
      )
    }
    const ofLog = findings.filter(({ check }) => check === 'transparency-log')
    expect(ofLog.map(({ position }) => position)).toContain(7)
    // The events of a request follow the moved events, which the read models may have applied.
    const after = await requestVerification('incremental')
    expect(after).toMatchObject({ mode: 'incremental', finding_count: 0 })
  })

  it('finds a tail that was cut off before the last verified position', async () => {
    await sealAll()
    const { toPosition: head } = await verify('incremental')
    await sql('create table kept_head as table event_store.head')
    await sql('update event_store.head set position = $1', [head - 3])
    const { findings } = await verify('incremental')
    await sql('update event_store.head set position = (select position from kept_head)')
    await sql('drop table kept_head')
    const found = findings.filter(({ check }) => check === 'positions')
    expect(found[0]).toMatchObject({ position: head - 2 })
    const named = expect.stringMatching(
      new RegExp(`read up to \\d+, but only ${head - 3} events are here.* balances`),
    )
    const ofReadModels = expect.objectContaining({ check: 'read-models', detail: named })
    expect(findings).toContainEqual(ofReadModels)
    // The finding stays when new events take the positions, until the read models are rebuilt.
    expect((await verify('incremental')).findings).toContainEqual(ofReadModels)
    expect(await requestVerification('full')).toMatchObject({
      findings: [{ check: 'read-models' }],
    })
    await rebuild(PROJECTIONS.map(({ name }) => name))
    expect(await verify('full')).toMatchObject({ findingCount: 0 })
  })

  it('names an earlier checkpoint of another key, without a full verification', async () => {
    await sealAll()
    await verify('incremental')
    await sql('create table kept_notes as table transparency_log.checkpoints')
    const { rows: logs } = await sql('select origin from transparency_log.log')
    const other = checkpointSigner(logs[0].origin).sign(1, Buffer.alloc(32)).split('\n\n')[1]
    const first = '(select min(size) from kept_notes)'
    await sql(
      `update transparency_log.checkpoints set signatures = array[$1] where size = ${first}`,
      [`${other}`],
    )
    const { findings } = await verify('incremental')
    await sql(`update transparency_log.checkpoints c set signatures = k.signatures
      from kept_notes k where k.size = c.size`)
    await sql('drop table kept_notes')
    expect(findings.map(({ check }) => check)).toContain('signed-checkpoints')
  })

  it('exports all events as a tar archive that verifies, and only to auditors', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'site-export-'))
    try {
      const headers = product.root.sessionHeaders
      const response = await fetch(`${product.url}/api/audit/export`, { headers })
      expect(response.headers.get('content-type')).toBe('application/x-tar')
      const path = join(folder, 'export.tar')
      writeFileSync(path, Buffer.from(await response.arrayBuffer()))
      const report = await verifyExport(openExport(path))
      expect(report.findings.list()).toEqual([])
      expect(report.events).toBeGreaterThan(15)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    const wrong = await product.root.call('GET', '/api/audit/export?from=5&to=4')
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining('to')])
  })
})

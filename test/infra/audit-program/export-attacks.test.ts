import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GrowingTree } from '#infra/audit-program/append-only-merkle-tree.ts'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { exportFiles } from '#infra/audit-program/generate-export-files.ts'
import { leafHash } from '#infra/audit-program/stored-record.ts'
import { postgresRecords } from '#infra/audit-program/stored-record-reader.ts'
import { type VerifyOptions, verifyExport } from '#infra/audit-program/verify-export.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { type TestDatabase, testDatabase } from '#test/support/test-database.ts'
import { checkpointSigner } from './checkpoint-signer.ts'
import { consistentHistory } from './consistent-history.ts'

const EVENTS = 1_200
const SITE = checkpointSigner('site.example/log')
const WITNESS = checkpointSigner('witness.example', 4)

let database: TestDatabase
let pg: Pool
let folder: string
/** The checkpoints that were signed before the attacks. */
let signed: string[]
/** The leaf hashes that were sealed before the attacks. */
let leaves: Buffer[]

beforeAll(async () => {
  database = await testDatabase()
  const log = createLog('silent')
  const store = await createPostgresEventStore({ connectionString: database.url, log })
  for (const append of consistentHistory(EVENTS)) await store.append(append)
  await store.close()
  pg = new Pool({ connectionString: database.url })
  folder = mkdtempSync(join(tmpdir(), 'export-'))
  signed = await checkpointsOf([400, 800, EVENTS])
  leaves = (await postgresRecords(pg).read(0, EVENTS)).map(leafHash)
})

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await pg.end()
  await database.drop()
})

async function checkpointsOf(sizes: readonly number[], signer = SITE): Promise<string[]> {
  const tree = new GrowingTree()
  const notes: string[] = []
  for (const record of await postgresRecords(pg).read(0, EVENTS * 2)) {
    tree.append(leafHash(record))
    if (sizes.includes(tree.size)) notes.push(signer.sign(tree.size, tree.root()))
  }
  return notes
}

type Sealed = {
  readonly signedCheckpoints: string[]
  readonly keys: string[]
  readonly leafHashes: (first: number, count: number) => Promise<readonly (Buffer | null)[]>
}

async function exportTo(
  name: string,
  sealed: Partial<Sealed> = {},
  from?: number,
): Promise<string> {
  const target = join(folder, name)
  const tree = {
    signedCheckpoints: signed,
    leafHashes: async (first: number, count: number) => leaves.slice(first, first + count),
    keys: [SITE.key],
    witnessKeys: [WITNESS.key],
    ...sealed,
  }
  const source = { records: postgresRecords(pg), sealedTree: async () => tree }
  const options = { exportedAt: new Date(0), ...(from === undefined ? {} : { from }) }
  for await (const { name: file, bytes } of exportFiles(source, options)) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    writeFileSync(join(target, file), bytes ?? '')
  }
  return target
}

async function foundIn(path: string, options: VerifyOptions = {}): Promise<string[]> {
  const { findings } = await verifyExport(openExport(path), options)
  return findings.list().map(({ check, position }) => `${check} ${position ?? ''}`.trim())
}

/** Runs `attack` as SQL, exports, and undoes the attack. */
async function exportAfter(attack: string, sealed: Partial<Sealed> = {}): Promise<string> {
  await pg.query('create table if not exists kept as table event_store.events')
  try {
    await pg.query(attack)
    return await exportTo(`attack-${attack.length}-${Math.abs(hashOf(attack))}`, sealed)
  } finally {
    await pg.query('delete from event_store.events; insert into event_store.events table kept')
    await pg.query('update event_store.head set position = (select max(position) from kept)')
  }
}

const hashOf = (text: string): number =>
  [...text].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) | 0, 7)

/** Closes the gaps of positions and revisions, as a careful attacker would. */
const RENUMBERED = `;
  create temp table renumbered on commit drop as
    select row_number() over (order by position) as position, stream,
      row_number() over (partition by stream order by position) - 1 as revision,
      id, type, v, data, actor, cause, at
    from event_store.events;
  delete from event_store.events;
  insert into event_store.events table renumbered;
  update event_store.head set position = (select max(position) from event_store.events)`

describe('an export', () => {
  it('verifies in full, and says what it does not prove', async () => {
    const report = await verifyExport(openExport(await exportTo('whole')), { keys: [SITE.key] })
    expect(report.findings.list()).toEqual([])
    expect(report).toMatchObject({ events: EVENTS, sealedSize: EVENTS, treeSize: EVENTS })
    expect(report.notChecked.join()).toContain('--earlier')
  })

  it('verifies from any position, with the tree before it', async () => {
    const path = await exportTo('part', {}, 555)
    const report = await verifyExport(openExport(path))
    expect(report.findings.list()).toEqual([])
    expect(report).toMatchObject({ first: 555, events: EVENTS - 554, sealedSize: EVENTS })
  })

  it('is verified by its own file in plain Node, in a folder and as a tar archive', async () => {
    const path = await exportTo('plain')
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [join(path, 'verify.mjs'), ...args], { encoding: 'utf8' })
    const good = run(path)
    expect(good.stdout).toContain('Nothing was found.')
    expect([good.status, good.stderr]).toEqual([0, ''])
    execFileSync('tar', ['-cf', `${path}.tar`, '-C', path, 'manifest.json', 'segments', 'sealed'])
    expect(run(`${path}.tar`).status).toBe(0)
    const segment = join(path, 'segments/000000000001-000000001200.ndjson.gz')
    const bytes = readFileSync(segment)
    writeFileSync(segment, bytes.subarray(0, bytes.length - 9))
    const bad = run(path, '--json')
    expect(bad.status).toBe(1)
    expect(JSON.parse(bad.stdout).findings[0]).toMatchObject({ check: 'export' })
    expect(run(join(path, 'nowhere')).status).toBe(2)
    expect(run('--wrong').status).toBe(2)
  })
})

describe('the offline verifier finds', () => {
  it('one byte that was changed in one event', async () => {
    const path = await exportAfter(
      `update event_store.events set data = replace(data, '"latencyMs":30', '"latencyMs":31')
       where position = (select min(position) from event_store.events
         where position > 500 and type = 'CallSettled')`,
    )
    expect(await foundIn(path)).toEqual([
      expect.stringMatching(/^transparency-log 50\d$/),
      ...['signed-checkpoints', 'signed-checkpoints'],
    ])
  })

  it('a charge that was raised, and names its event', async () => {
    const path = await exportAfter(
      `update event_store.events set data = regexp_replace(data, '"charge":\\d+', '"charge":999')
       where position = (select min(position) from event_store.events
         where position > 500 and type = 'CallSettled')`,
    )
    expect(await foundIn(path)).toContainEqual(expect.stringMatching(/^charges 50\d$/))
  })

  it('a lost tile of the log, and only the change of an event of another tile', async () => {
    const leafHashes = async (first: number, count: number) =>
      leaves.map((hash, leaf) => (leaf < 256 ? null : hash)).slice(first, first + count)
    const path = await exportTo('lost-tile', { leafHashes })
    const { findings } = await verifyExport(openExport(path))
    const params = { tile: '0', first: 1, last: 256 }
    expect(findings.list()).toMatchObject([{ code: 'TileMissing', params }])
    const attack = `update event_store.events set data = replace(data, '"latencyMs":30', '1')
       where position = (select min(position) from event_store.events
         where position > 500 and type = 'CallSettled')`
    const changed = await foundIn(await exportAfter(attack, { leafHashes }))
    expect(changed.filter((found) => found.startsWith('transparency-log'))).toEqual([
      ...[expect.stringMatching(/^transparency-log 50\d$/), 'transparency-log'],
    ])
  })

  it('an event that was deleted, also if the others were numbered again', async () => {
    const deletion = 'delete from event_store.events where position = 600'
    const plain = await foundIn(await exportAfter(deletion))
    expect(plain).toContain('positions 601')
    expect(plain.filter((found) => found.startsWith('transparency-log '))).toEqual([])
    const renumbered = await foundIn(await exportAfter(deletion + RENUMBERED))
    expect(renumbered).toContain('signed-checkpoints')
  })

  it('an event that was inserted', async () => {
    const path = await exportAfter(`insert into event_store.events
      select ${EVENTS + 1}, stream, revision + 1000, gen_random_uuid(), type, v, data, actor,
        cause, at
      from event_store.events where position = 900;
      update event_store.head set position = ${EVENTS + 1}`)
    expect(await foundIn(path)).toEqual(expect.arrayContaining([`revisions ${EVENTS + 1}`]))
  })

  it('two events that were swapped', async () => {
    const path = await exportAfter(`
      update event_store.events set position = 5000 where position = 700;
      update event_store.events set position = 700 where position = 701;
      update event_store.events set position = 701 where position = 5000`)
    expect(await foundIn(path)).toContain('signed-checkpoints')
  })

  it('a tail that was cut off', async () => {
    const path = await exportAfter(`delete from event_store.events where position > 1000;
      update event_store.head set position = 1000`)
    expect(await foundIn(path)).toContain('signed-checkpoints')
  })

  it('a stream that was removed', async () => {
    const path = await exportAfter(
      `delete from event_store.events where stream = 'account-3'${RENUMBERED}`,
    )
    expect(await foundIn(path)).toContain('signed-checkpoints')
  })

  it('a checkpoint that was signed with another key', async () => {
    const other = checkpointSigner('site.example/log')
    const path = await exportTo('other-key', {
      ...{ signedCheckpoints: await checkpointsOf([EVENTS], other), keys: [other.key] },
    })
    expect(await foundIn(path)).toEqual([])
    expect(await foundIn(path, { keys: [SITE.key] })).toEqual(['signed-checkpoints'])
  })

  it('a history that was rewritten and signed again, by an earlier checkpoint', async () => {
    await pg.query('create table if not exists kept as table event_store.events')
    const attack = `delete from event_store.events where stream = 'account-3'${RENUMBERED}`
    await pg.query(attack)
    const rewritten = {
      signedCheckpoints: await checkpointsOf([400, 800, 1_100]),
      leafHashes: async () => [],
    }
    const path = await exportTo('rewritten', rewritten)
    await pg.query('delete from event_store.events; insert into event_store.events table kept')
    await pg.query(`update event_store.head set position = ${EVENTS}`)
    expect(await foundIn(path)).toEqual([])
    expect(await foundIn(path, { earlier: signed.slice(0, 1) })).toEqual(['signed-checkpoints'])
  })
})

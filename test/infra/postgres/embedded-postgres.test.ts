import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processesOf } from '#infra/postgres/orphaned-servers.ts'
import { endOwner, type Owner, OwnerFailed, startOwner } from './owner-process.ts'

let dataDir: string
const owners: Owner[] = []

beforeEach(() => {
  // `mkdtemp` sets mode 0700. If the test runs as root, the user of the Postgres server can't enter
  // the folder.
  dataDir = mkdtempSync(join(tmpdir(), 'tallygate-embedded-'))
})
afterEach(async () => {
  for (const owner of owners.splice(0)) if (owner.process.exitCode === null) kill(owner.pid)
  for (const pid of await processesOf(clusterName())) kill(pid)
  rmSync(dataDir, { recursive: true, force: true })
})

const clusterName = (): string =>
  JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')).name

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

async function start(folder = dataDir): Promise<Owner> {
  const owner = await startOwner(folder)
  owners.push(owner)
  return owner
}

async function query(owner: Owner, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: owner.connectionString })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query(text).finally(() => client.end())
  return rows
}

describe('an embedded Postgres', () => {
  it('is durable, uses page checksums, and lets only its owner read its password', async () => {
    const owner = await start()
    const rows = await query(
      owner,
      `select current_setting('fsync') f, current_setting('synchronous_commit') s,
        current_setting('full_page_writes') p, current_setting('data_checksums') c,
        datlocprovider l, pg_encoding_to_char(encoding) e from pg_database
        where datname = 'postgres'`,
    )
    expect(rows).toEqual([{ f: 'on', s: 'on', p: 'on', c: 'on', l: 'b', e: 'UTF8' }])
    expect(statSync(join(dataDir, 'postgres.json')).mode & 0o077).toBe(0)
    expect(statSync(join(dataDir, 'postgres')).mode & 0o077).toBe(0)
    const stranger = new URL(owner.connectionString)
    stranger.password = 'guess'
    await expect(query({ ...owner, connectionString: stranger.href }, 'select 1')).rejects.toThrow(
      'password',
    )
    await endOwner(owner)
    expect(await processesOf(clusterName())).toEqual([])
  })

  it('keeps its data when its owner is killed and the next start stops it', async () => {
    const first = await start()
    await query(first, 'create table kept as select 7 n')
    await endOwner(first, 'SIGKILL')
    expect(await processesOf(clusterName())).toContain(first.postmaster)
    // The recorded pid may belong to another process now. Here it is the pid of the test process.
    writeFileSync(join(dataDir, 'owner'), `process ${process.pid}\n`)
    const second = await start()
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }])
    expect(await processesOf(clusterName())).not.toContain(first.postmaster)
    await endOwner(second)
  })

  it('does not block a start after a kill left backends that hang', async () => {
    const first = await start()
    await query(first, 'create table kept as select 7 n')
    await endOwner(first, 'SIGKILL')
    const backends = (await processesOf(clusterName())).filter((pid) => pid !== first.postmaster)
    for (const pid of backends) kill(pid, 'SIGSTOP')
    kill(first.postmaster)
    await expect.poll(() => processesOf(clusterName())).toEqual(backends)
    expect(backends.length).toBeGreaterThan(0)
    const second = await start()
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }])
    await endOwner(second)
  })

  it('starts even if its recorded pid now belongs to another process', async () => {
    const first = await start()
    await endOwner(first, 'SIGKILL')
    for (const pid of await processesOf(clusterName())) kill(pid)
    await expect.poll(() => processesOf(clusterName())).toEqual([])
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    const stale = readFileSync(pidFile, 'utf8').replace(/^\d+/, String(process.ppid))
    writeFileSync(pidFile, stale)
    const second = await start()
    expect(await query(second, 'select 1 n')).toEqual([{ n: 1 }])
    await endOwner(second)
  })

  it('refuses a second owner, names the first one, and continues to serve', async () => {
    const first = await start()
    const refused = await start().catch((error) => error)
    expect(refused).toBeInstanceOf(OwnerFailed)
    expect(refused.status).not.toBe(0)
    expect(refused.message).toContain(`in use by process ${first.pid}`)
    expect(await query(first, 'select 1 n')).toEqual([{ n: 1 }])
    expect(await processesOf(clusterName())).toContain(first.postmaster)
    await endOwner(first)
  })

  it('keeps its password while its folder is moved away for one start', async () => {
    const secrets = () => readFileSync(join(dataDir, 'postgres.json'), 'utf8')
    const first = await start()
    await endOwner(first)
    const before = secrets()
    renameSync(join(dataDir, 'postgres'), join(dataDir, 'away'))
    const second = await start()
    await endOwner(second)
    expect(secrets()).toBe(before)
  })

  it('leaves the server of a folder running when a copy of the folder is started', async () => {
    await endOwner(await start())
    const copy = join(dataDir, 'copy')
    execFileSync('cp', ['-a', dataDir, `${dataDir}.copy`])
    renameSync(`${dataDir}.copy`, copy)
    const first = await start()
    const second = await start(copy)
    expect(await query(second, 'select 1 n')).toEqual([{ n: 1 }])
    expect(await query(first, 'select 2 n')).toEqual([{ n: 2 }])
    expect(first.process.exitCode).toBeNull()
    expect(await processesOf(clusterName())).toContain(first.postmaster)
    await endOwner(second)
    await endOwner(first)
  })

  it('is restarted in the same place after it dies', async () => {
    const owner = await start()
    await query(owner, 'create table kept as select 7 n')
    for (const pid of await processesOf(clusterName())) kill(pid)
    const count = () => query(owner, 'select n from kept').catch(() => [])
    await expect.poll(count, { timeout: 20_000 }).toEqual([{ n: 7 }])
    await endOwner(owner)
  })
})

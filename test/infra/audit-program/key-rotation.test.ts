import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { exportSource } from '#infra/audit-program/open-sealed-log.ts'
import { parseSignedCheckpoint } from '#infra/audit-program/signed-checkpoint.ts'
import { ensureAuditTables } from '#infra/audit-program/state-after-last-verification.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { verifySite } from '#infra/audit-program/verify-site-data.ts'
import { writeExportFolder } from '#infra/audit-program/write-export-folder.ts'
import { ConfigError } from '#infra/config/config-types.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { publishKeyRotations } from '#infra/transparency-log/ask-witnesses.ts'
import { witnessCheckpoint } from '#infra/transparency-log/cosign-checkpoint-as-witness.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { checkpointBody, createNoteSigner, noteOf } from '#infra/transparency-log/note-signer.ts'
import {
  ensureLogSchema,
  openTransparencyLog,
  readLog,
  refuseRecordedKeyAsWitness,
} from '#infra/transparency-log/open-log.ts'
import { publishCheckpoints } from '#infra/transparency-log/publish-checkpoints.ts'
import { storedTree } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import { rotateLogKey } from '#infra/transparency-log/rotate-log-key.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { testCore } from '#test/support/test-core.ts'
import { consistentHistory } from './consistent-history.ts'
import { environmentOf, runVerb } from './run-verb.ts'

const PROGRAM = join(import.meta.dirname, '../../../infra/audit-program/audit-program.ts')
const NEW_SEED = randomBytes(32)
const closers: (() => unknown)[] = []
let core: Core
let folder: string
let history: ReturnType<typeof consistentHistory>

beforeEach(async () => {
  const running = await testCore()
  core = running.core
  const projections = await startProjections(core)
  closers.push(
    () => running.close(),
    () => projections.stop(),
  )
  folder = mkdtempSync(join(tmpdir(), 'key-rotation-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  await ensureLogSchema(core)
  await ensureAuditTables(core.pg)
  history = consistentHistory(3_000)
  for (let checkpoints = 0; checkpoints < 2; checkpoints += 1) {
    await append()
    await sealAll(core)
  }
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Appends the next events of the history, which are about 500. */
async function append(): Promise<void> {
  const { value } = history.next()
  if (value !== undefined) await core.store.append(value)
}

const withKey = (seed: Uint8Array, base = core): Core => ({
  ...base,
  config: { ...base.config, transparencyLog: { ...base.config.transparencyLog, key: seed } },
})

async function sealAll(site: Core): Promise<void> {
  const log = await openTransparencyLog(site)
  const { pg, now } = site
  const deps = { pg, log, readLeaves: leafReader(site), arePositionsDense: true, now }
  while ((await sealEvents(deps)) > 0);
}

/** Rotates the key, and seals more events with the new one. */
async function rotate(): Promise<Core> {
  await rotateLogKey(core, NEW_SEED)
  const site = withKey(NEW_SEED)
  await append()
  await sealAll(site)
  return site
}

async function keys() {
  const { pg, vault } = core
  const { origin = '' } = (await readLog(pg)) ?? {}
  const old = Buffer.from(vault.keyedHash('transparency-log', 'log'), 'hex')
  return { old: createNoteSigner(origin, old), next: createNoteSigner(origin, NEW_SEED) }
}

async function verify(site: Core): Promise<string[]> {
  const { findings } = await verifySite(site, { mode: 'full', runningSince: 0 })
  return findings.list().map(({ check, detail }) => `${check}: ${detail}`)
}

async function verifyOffline(site: Core, trusted: readonly string[]): Promise<string[]> {
  const target = join(folder, `export-${randomBytes(4).toString('hex')}`)
  await writeExportFolder(exportSource(site), target, { exportedAt: new Date(0) })
  const options = trusted.length === 0 ? {} : { keys: trusted }
  const { findings } = await verifyExport(openExport(target), options)
  return findings.list().map(({ check, detail }) => `${check}: ${detail}`)
}

const sql = (query: string, values: unknown[] = []) => core.pg.query(query, values)

describe('a log whose key was rotated', { timeout: 120_000 }, () => {
  it('leaves neither key, nor a key under the name of its own witness, as a witness', async () => {
    const { origin = '' } = (await readLog(core.pg)) ?? {}
    const witnessedBy = (seed: Uint8Array, name: string) => {
      const key = createNoteSigner(name, seed).witnessKey
      const witnesses = [{ key, url: 'https://witness.example' }]
      const transparencyLog = { ...core.config.transparencyLog, witnesses }
      return refuseRecordedKeyAsWitness({
        pg: core.pg,
        config: { ...core.config, transparencyLog },
      })
    }
    const first = randomBytes(32)
    await witnessedBy(NEW_SEED, 'witness.example')
    await rotateLogKey(core, first)
    await rotateLogKey(withKey(first), NEW_SEED)
    for (const seed of [first, NEW_SEED]) {
      await expect(witnessedBy(seed, 'witness.example')).rejects.toThrow(
        /a key of this site itself/,
      )
    }
    const other = randomBytes(32)
    await witnessedBy(other, 'witness.example')
    await expect(witnessedBy(other, `${origin}/witness`)).rejects.toThrow(ConfigError)
  })

  it('is verified online, and offline with the old or the new key or without one', async () => {
    const site = await rotate()
    const { old, next } = await keys()
    expect(await verify(site)).toEqual([])
    for (const trusted of [[], [old.verifierKey], [next.verifierKey]]) {
      expect(await verifyOffline(site, trusted)).toEqual([])
    }
  })

  it('is not sealed by a process with the old key, also if it had opened the log', async () => {
    const log = await openTransparencyLog(core)
    const site = await rotate()
    await append()
    const { pg, now } = core
    const deps = { pg, log, readLeaves: leafReader(core), arePositionsDense: true, now }
    await expect(sealEvents(deps)).rejects.toThrow('was rotated')
    await expect(openTransparencyLog(core)).rejects.toThrow('TRANSPARENCY_LOG_KEY')
    expect(await verify(core)).toEqual([expect.stringContaining('was rotated')])
    await sealAll(site)
    expect(await verify(site)).toEqual([])
  })

  it('is found if the retired key signs a later checkpoint', async () => {
    const site = await rotate()
    const { old, next } = await keys()
    const last = '(select max(size) from transparency_log.checkpoints)'
    const { rows } = await sql(`select body from transparency_log.checkpoints where size = ${last}`)
    await sql(`update transparency_log.checkpoints set signatures = $1 where size = ${last}`, [
      [old.sign(rows[0]?.body)],
    ])
    const expected = expect.stringContaining('retired at size')
    expect(await verify(site)).toContainEqual(expected)
    for (const trusted of [[], [old.verifierKey], [next.verifierKey]]) {
      expect(await verifyOffline(site, trusted)).toEqual([expected])
    }
  })

  it('is found if its history before the rotation was rewritten with the retired key', async () => {
    const site = await rotate()
    const { old, next } = await keys()
    await sql("update event_store.events set actor = 'user:9' where position = 5")
    await sql('truncate transparency_log.tiles, transparency_log.checkpoints')
    await sql(
      `update transparency_log.log
      set size = 0, last_position = 0, verifier_key = $1`,
      [old.verifierKey],
    )
    await sealAll(core)
    await sql('update transparency_log.log set verifier_key = $1', [next.verifierKey])
    const found = await verify(site)
    expect(found).toContainEqual(expect.stringContaining('was signed over another tree'))
    const offline = await verifyOffline(site, [next.verifierKey])
    expect(offline).toContainEqual(expect.stringMatching(/differ from the rotation of the key/))
  })

  it('is found if the record of the rotation was removed or another one added', async () => {
    const site = await rotate()
    const { rows } = await sql('select * from transparency_log.key_rotations')
    await sql('delete from transparency_log.key_rotations')
    expect(await verify(site)).toContainEqual(expect.stringContaining('is not signed with a key'))
    await sql(
      `insert into transparency_log.key_rotations (old_key, new_key, note, created_at)
        values ($1, $2, $3, 0), ('a', 'b', 'forged', 0)`,
      [rows[0]?.old_key, rows[0]?.new_key, rows[0]?.note],
    )
    expect(await verify(site)).toEqual([expect.stringContaining('is not signed')])
  })

  it('accepts no key that it had before, and changes nothing if rotated again', async () => {
    const first = await rotateLogKey(core, NEW_SEED)
    expect(first.isRotatedNow).toBe(true)
    expect(await rotateLogKey(core, NEW_SEED)).toEqual({ ...first, isRotatedNow: false })
    const site = withKey(NEW_SEED)
    const oldSeed = Buffer.from(core.vault.keyedHash('transparency-log', 'log'), 'hex')
    await expect(rotateLogKey(site, oldSeed)).rejects.toThrow('had this key before')
    await expect(rotateLogKey(core, randomBytes(32))).rejects.toThrow('was rotated')
    const third = randomBytes(32)
    await rotateLogKey(site, third)
    await append()
    await sealAll(withKey(third))
    expect(await verify(withKey(third))).toEqual([])
  })
})

describe('a witness of a log whose key was rotated', { timeout: 120_000 }, () => {
  it('follows the rotation, and refuses the old key from then on', async () => {
    const { old } = await keys()
    const other = await testCore()
    closers.push(() => other.close())
    await ensureLogSchema(other.core)
    const { witness } = await openTransparencyLog(other.core)
    const deps = { pg: other.core.pg, witness, keys: [old.verifierKey], now: core.now }
    const server = createServer(async (request, response) => {
      const answer = await witnessCheckpoint(deps, await text(request))
      response.writeHead(answer.status).end(answer.text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    const { port } = server.address() as { port: number }
    const outbound = createOutbound(operatorPolicy(core.config))
    closers.push(() => outbound.close())
    const witnesses = [{ key: witness.witnessKey, url: `http://127.0.0.1:${port}` }]
    const publishing = (site: Core) => ({
      ...{ ...site, outbound },
      config: { ...site.config, transparencyLog: { ...site.config.transparencyLog, witnesses } },
    })
    const hasSigned = async () => {
      const { rows } = await sql(`select array_to_string(signatures, '') as lines
        from transparency_log.checkpoints order by size desc limit 1`)
      return rows[0]?.lines.includes(`— ${witness.name} `)
    }
    await publishCheckpoints(publishing(core))
    expect(await hasSigned()).toBe(true)
    // The witness was not told of the rotation, and learns of it with the next checkpoint.
    const site = await rotate()
    await publishCheckpoints(publishing(site))
    expect(await hasSigned()).toBe(true)
    expect(await publishKeyRotations(publishing(site))).toEqual([
      { key: witness.witnessKey, error: expect.stringMatching(/already signed/) },
    ])
    const { rows } = await sql('select size::int, root from transparency_log.checkpoints')
    const { size } = rows.at(-1) ?? {}
    const body = checkpointBody(old.name, size + 1, randomBytes(32))
    const proof = await storedTree(core.pg).consistencyProof(size, size)
    const forged = `old ${size}\n${proof.join('')}\n${noteOf(body, [old.sign(body)])}`
    expect(await witnessCheckpoint(deps, forged)).toMatchObject({ status: 403 })
  })
})

describe('npm run audit -- rotate-key', { timeout: 180_000 }, () => {
  const start = (file: string, witness?: string) =>
    spawn(process.execPath, [PROGRAM, 'rotate-key', file, '--json'], {
      env: {
        ...environmentOf(core.config),
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        ...(witness === undefined ? {} : { TRANSPARENCY_LOG_WITNESSES: witness }),
      },
    })
  const run = (file: string) => runVerb(['rotate-key', file, '--json'], environmentOf(core.config))
  const recorded = async () => {
    const { rows } = await sql(`select (select verifier_key from transparency_log.log) as key,
      (select count(*)::int from transparency_log.key_rotations) as rotations`)
    return rows[0]
  }

  it.each(['key_rotations', 'checkpoints', 'log'])(
    'can be killed while it writes %s, and run again',
    async (table) => {
      const before = await recorded()
      const file = join(folder, 'key')
      await sql(`create function hold() returns trigger language plpgsql as
        'begin perform pg_sleep(300); return new; end';
        create trigger hold after insert or update on transparency_log.${table}
          for each row execute function hold()`)
      const child = start(file)
      const sleeping = `select pid from pg_stat_activity
        where wait_event = 'PgSleep' and datname = current_database()`
      while ((await sql(sleeping)).rowCount === 0) await delay(20)
      child.kill('SIGKILL')
      await once(child, 'close')
      await sql(`select pg_terminate_backend(pid, 5000) from (${sleeping}) held`)
      expect(await recorded()).toEqual(before)
      await sql(`drop trigger hold on transparency_log.${table}`)
      const seed = readFileSync(file, 'utf8')
      const { status, output } = await run(file)
      expect([status, JSON.parse(output).is_rotated_now]).toEqual([0, true])
      expect(readFileSync(file, 'utf8')).toBe(seed)
      await append()
      const site = withKey(Buffer.from(seed, 'base64'))
      await sealAll(site)
      expect(await verify(site)).toEqual([])
    },
  )

  it('can be killed while it tells the witnesses, and run again', async () => {
    const { old } = await keys()
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    closers.push(() => silent.close())
    const { port } = silent.address() as { port: number }
    const witnessKey = createNoteSigner('witness.example', randomBytes(32)).witnessKey
    const file = join(folder, 'key')
    const child = start(file, `${witnessKey} http://127.0.0.1:${port}`)
    await once(silent, 'request')
    child.kill('SIGKILL')
    await once(child, 'close')
    silent.closeAllConnections()
    const { status, output } = await run(file)
    const { key, note, is_rotated_now: isRotatedNow } = JSON.parse(output)
    expect([status, isRotatedNow]).toEqual([0, false])
    expect(await recorded()).toEqual({ key, rotations: 1 })
    const { rows } = await sql("select data from event_store.events where type = 'LogKeyRotated'")
    expect(rows.map(({ data }) => JSON.parse(data).newKey)).toEqual([key])
    expect(parseSignedCheckpoint(note).body).toContain(`key-rotation ${old.verifierKey} ${key}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('refuses a file that is no key, and a key that is not new', async () => {
    const file = join(folder, 'wrong')
    writeFileSync(file, 'short')
    expect(await run(file)).toMatchObject({ status: 2, errors: expect.stringContaining('32') })
    expect(await run(join(folder, 'none', 'key'))).toMatchObject({ status: 2 })
    expect(await recorded()).toMatchObject({ rotations: 0 })
  })
})

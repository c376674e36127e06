import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { recordsOf } from '#infra/audit-program/open-sealed-log.ts'
import { reportRefusals } from '#infra/audit-program/record-and-report-witness-refusals.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
} from '#infra/audit-program/signed-checkpoint.ts'
import type { Config } from '#infra/config/config-types.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import type { RunningCore } from '#infra/start-core.ts'
import { witnessCheckpoint } from '#infra/transparency-log/cosign-checkpoint-as-witness.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { checkpointBody, noteOf } from '#infra/transparency-log/note-signer.ts'
import {
  ensureLogSchema,
  openTransparencyLog,
  type TransparencyLog,
} from '#infra/transparency-log/open-log.ts'
import { publishCheckpoints } from '#infra/transparency-log/publish-checkpoints.ts'
import { listCheckpoints, storedTree } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startSealer } from '#infra/transparency-log/sealer.ts'
import { testCore } from '#test/support/test-core.ts'

type Site = RunningCore & { readonly log: TransparencyLog; config: Config; readonly url: string }

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A site that answers as a witness. `knows` sets the logs that it signs. */
async function startSite(): Promise<Site & { knows: string[] }> {
  const running = await testCore()
  closers.push(() => running.close())
  const { core } = running
  await ensureLogSchema(core)
  const log = await openTransparencyLog(core)
  const knows: string[] = []
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const deps = { pg: core.pg, witness: log.witness, keys: knows, now: core.now }
    const answer = await witnessCheckpoint(deps, text)
    response.writeHead(answer.status).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const { port } = server.address() as { port: number }
  return { ...running, log, config: core.config, url: `http://127.0.0.1:${port}`, knows }
}

async function appendAndSeal({ core, log }: Site, count = 1): Promise<void> {
  const events = Array.from({ length: count }, () => ({
    id: randomUUID(),
    ...{ type: 'Noted', v: 1, data: {}, meta: { actor: 'user:1', cause: null, at: 1 } },
  }))
  if (count > 0) await core.store.append([{ stream: 'user-1', expected: 'any', events }])
  const readLeaves = leafReader(core)
  const { pg, now } = core
  await sealEvents({ pg, log, readLeaves, arePositionsDense: true, now })
}

/** Publishes once, and returns whether nothing is left. */
async function publish(
  { core }: { readonly core: Core },
  transparencyLog: Partial<Config['transparencyLog']>,
): Promise<boolean> {
  const outbound = createOutbound(operatorPolicy(core.config))
  closers.push(() => outbound.close())
  const config = {
    ...core.config,
    transparencyLog: { ...core.config.transparencyLog, ...transparencyLog },
  }
  return (await publishCheckpoints({ ...core, config, outbound })) === 'complete'
}

const isCosigned = async (site: Site, by: Site): Promise<boolean> => {
  const [latest] = await listCheckpoints(site.core.pg, 1)
  const key = parseVerifierKey(by.log.witness.witnessKey)
  return latest !== undefined && isSignedBy(parseSignedCheckpoint(latest.note), key)
}

/** The request that a site sends for its latest checkpoint. */
async function requestOf({ core }: Site, before: number): Promise<string> {
  const [latest] = await listCheckpoints(core.pg, 1)
  if (latest === undefined) throw new Error('nothing is sealed')
  const proof = await storedTree(core.pg).consistencyProof(before, latest.size)
  const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
  return `old ${before}\n${lines}\n${latest.note}`
}

describe('two sites that witness each other', () => {
  it('sign each checkpoint of the other one', async () => {
    const [one, two] = [await startSite(), await startSite()]
    one.knows.push(two.log.signer.verifierKey)
    two.knows.push(one.log.signer.verifierKey)
    for (const count of [1, 300, 7]) {
      for (const [site, witness] of [
        [one, two],
        [two, one],
      ] as const) {
        await appendAndSeal(site, count)
        const witnesses = [{ key: witness.log.witness.witnessKey, url: witness.url }]
        await publish(site, { witnesses })
        expect(await isCosigned(site, witness)).toBe(true)
      }
    }
  })

  it('continue after a checkpoint that the witness signed but the site has lost', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    const witnesses = [{ key: witness.log.witness.witnessKey, url: witness.url }]
    await appendAndSeal(site)
    await publish(site, { witnesses })
    await site.core.pg.query('update transparency_log.checkpoints set signatures = signatures[1:1]')
    await appendAndSeal(site, 5)
    await publish(site, { witnesses })
    expect(await isCosigned(site, witness)).toBe(true)
  })
})

describe('a site whose history differs from the one that a witness has signed', () => {
  /** Replaces the sealed events by others, and seals as many again. */
  async function rewrite(site: Site, size: number): Promise<void> {
    const { pg } = site.core
    await pg.query("update event_store.events set actor = 'user:2' where position = 3")
    await pg.query('truncate transparency_log.tiles, transparency_log.checkpoints')
    await pg.query('update transparency_log.log set size = 0, last_position = 0')
    await appendAndSeal(site, size)
  }

  async function publishAndLog({ core }: Site, witness: Site) {
    const lines: { level: number; msg: string; err?: { message: string } }[] = []
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
    const witnesses = [{ key: witness.log.witness.witnessKey, url: witness.url }]
    await publish({ core: { ...core, log } }, { witnesses })
    return lines
  }

  const refusalsIn = ({ core }: Site) =>
    core.actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, ({ refusals }) => refusals)

  /** Acknowledges the first refusal, and returns what its state then contains. */
  async function acknowledgeFirst(site: Site) {
    const [first] = await refusalsIn(site)
    const acknowledged = { id: first?.id ?? '', acknowledgedAt: 12 }
    const command = { ...acknowledged, acknowledgedBy: 1, note: 'sealed:restored' as Sealed }
    await site.core.actors.handle(
      ...([auditJobsDecider, AUDIT_JOBS_STREAM] as const),
      { type: 'AcknowledgeRefusedCosignature', ...command },
      { actor: 'user:1', cause: null, at: 12 },
    )
    return acknowledged
  }

  /** Returns a site after the acknowledgement of a refusal of a history that then grew. */
  async function startRefusedSite() {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 5)
    await publishAndLog(site, witness)
    await rewrite(site, 1)
    await publishAndLog(site, witness)
    const acknowledged = await acknowledgeFirst(site)
    for (const count of [20, 20]) {
      await appendAndSeal(site, count)
      await publishAndLog(site, witness)
    }
    expect(await refusalsIn(site)).toMatchObject([acknowledged])
    return { site, witness, acknowledged }
  }

  it.each([
    ['of the same size', 0, '409', 'other-tree', 5],
    ['of a larger size', 2, '422', 'not-continued', 7],
  ])('logs and records a tree %s', async (_, more, status, reason, refusedSize) => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 5)
    expect(await publishAndLog(site, witness)).toEqual([])
    await rewrite(site, more)
    expect(await publishAndLog(site, witness)).toMatchObject([
      {
        ...{ level: 50, msg: 'a witness has signed another history of this log' },
        err: { message: expect.stringContaining(status) },
      },
    ])
    expect(await isCosigned(site, witness)).toBe(false)
    const { name } = parseVerifierKey(witness.log.witness.witnessKey)
    const refusal = { witness: name, size: 5, refusedSize, reason, isNotified: false }
    expect(await refusalsIn(site)).toMatchObject([refusal])
    await appendAndSeal(site, 1)
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toHaveLength(1)
    const findings = new Findings()
    await reportRefusals(recordsOf(site.core), findings)
    const detail = `the witness ${name} has signed another history of 5 events`
    const found = { check: 'witnesses', stream: AUDIT_JOBS_STREAM, detail }
    expect(findings.list()).toMatchObject([found])
  })

  it('records a history that was rewritten again after the refusal was acknowledged', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 5)
    await publishAndLog(site, witness)
    await rewrite(site, 1)
    await publishAndLog(site, witness)
    const acknowledged = await acknowledgeFirst(site)
    await appendAndSeal(site, 0)
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toHaveLength(1)
    await site.core.pg.query("update event_store.events set actor = 'user:3' where position = 4")
    await rewrite(site, 0)
    await publishAndLog(site, witness)
    const isAlarming = { size: 5, acknowledgedAt: null, isNotified: false }
    expect(await refusalsIn(site)).toMatchObject([acknowledged, isAlarming])
    const findings = new Findings()
    await reportRefusals(recordsOf(site.core), findings)
    expect(findings.total()).toBe(1)
    expect(findings.list()).toMatchObject([
      { code: 'WitnessAcknowledged' },
      { code: 'WitnessRefused' },
    ])
  })

  it('records that events after an acknowledged refusal were rewritten, and once', async () => {
    const { site, witness, acknowledged } = await startRefusedSite()
    await site.core.pg.query("update event_store.events set actor = 'user:3' where position = 15")
    await rewrite(site, 0)
    await publishAndLog(site, witness)
    const isAlarming = { size: 5, acknowledgedAt: null, isNotified: false }
    expect(await refusalsIn(site)).toMatchObject([acknowledged, isAlarming])
    await appendAndSeal(site, 3)
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toHaveLength(2)
  })

  it('records the refusal if the remembered tree was changed in the database', async () => {
    const { site, witness, acknowledged } = await startRefusedSite()
    await site.core.pg.query('update transparency_log.refused_trees set size = size - 1')
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toMatchObject([acknowledged, { acknowledgedAt: null }])
  })

  it('records the refusal if a tile of the refused tree is lost', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 400)
    await publishAndLog(site, witness)
    await site.core.pg.query('delete from event_store.events where position > 260')
    await site.core.pg.query('update event_store.head set position = 260')
    await rewrite(site, 0)
    await publishAndLog(site, witness)
    const acknowledged = await acknowledgeFirst(site)
    await appendAndSeal(site, 0)
    await site.core.pg.query('delete from transparency_log.tiles where level = 1')
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toMatchObject([acknowledged, { acknowledgedAt: null }])
  })

  it('records the refusal if a tile is lost that its proof needs', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 300)
    await publishAndLog(site, witness)
    await rewrite(site, 5)
    await site.core.pg.query('delete from transparency_log.tiles where level = 0 and index = 1')
    await publishAndLog(site, witness)
    const refusal = { size: 300, refusedSize: 305, reason: 'not-continued' }
    expect(await refusalsIn(site)).toMatchObject([refusal])
  })

  it('records no refusal if a tile is lost after the tree that the witness signed', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 300)
    await publishAndLog(site, witness)
    await appendAndSeal(site, 5)
    await site.core.pg.query('delete from transparency_log.tiles where level = 0 and index = 1')
    expect(await publishAndLog(site, witness)).toMatchObject([
      { level: 40, err: { message: expect.stringContaining('rebuild-tiles') } },
    ])
    expect(await refusalsIn(site)).toEqual([])
  })

  it('records no refusal if a tile is lost, however old the signed checkpoint is', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 300)
    await publishAndLog(site, witness)
    for (let later = 0; later < 51; later += 1) await appendAndSeal(site)
    await site.core.pg.query('delete from transparency_log.tiles where level = 0 and index = 1')
    expect(await publishAndLog(site, witness)).toMatchObject([
      { level: 40, err: { message: expect.stringContaining('rebuild-tiles') } },
    ])
    expect(await refusalsIn(site)).toEqual([])
  })

  it('records the refusal if a tile is lost and the recorded signature is not valid', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    const { pg } = site.core
    await appendAndSeal(site, 300)
    await publishAndLog(site, witness)
    const [signed] = await listCheckpoints(pg, 1)
    const line = signed?.note.split('\n').find((text) => text.includes('/witness '))
    await rewrite(site, 5)
    const [latest] = await listCheckpoints(pg, 1)
    expect([latest?.size, line]).toEqual([305, expect.stringContaining('— ')])
    const body = latest?.note.split('\n\n')[0]?.replace('\n305\n', '\n300\n')
    await pg.query(
      `insert into transparency_log.checkpoints
        select 300, 300, root, $1, array[$2], created_at
          from transparency_log.checkpoints where size = 305`,
      [`${body}\n`, `${line}\n`],
    )
    await pg.query('delete from transparency_log.tiles where level = 0 and index = 1')
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toMatchObject([{ size: 300, reason: 'not-continued' }])
  })

  it('records a tree that the witness knows to be larger', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 5)
    expect(await publishAndLog(site, witness)).toEqual([])
    await site.core.pg.query('delete from event_store.events where position > 2')
    await site.core.pg.query('truncate transparency_log.tiles, transparency_log.checkpoints')
    await site.core.pg.query('update transparency_log.log set size = 0, last_position = 0')
    await appendAndSeal(site, 0)
    await publishAndLog(site, witness)
    expect(await refusalsIn(site)).toMatchObject([
      { size: 5, refusedSize: 2, reason: 'larger-tree' },
    ])
  })

  it('records nothing of a witness that is down, knows less, or fails', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    await appendAndSeal(site, 5)
    await publishAndLog(site, { ...witness, url: 'http://127.0.0.1:1' })
    // It does not know the log.
    await publishAndLog(site, witness)
    witness.knows.push(site.log.signer.verifierKey)
    await publishAndLog(site, witness)
    await appendAndSeal(site, 5)
    await publishAndLog(site, witness)
    await witness.core.pg.query('delete from transparency_log.witnessed')
    await appendAndSeal(site, 5)
    await publishAndLog(site, witness)
    expect(await isCosigned(site, witness)).toBe(true)
    expect(await refusalsIn(site)).toEqual([])
  })

  it('logs no error if another process had the same checkpoint signed meanwhile', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 5)
    const logged = await Promise.all([1, 2, 3].map(() => publishAndLog(site, witness)))
    expect(logged.flat().filter(({ level }) => level >= 50)).toEqual([])
    expect(await isCosigned(site, witness)).toBe(true)
  })
})

describe('a witness', () => {
  const ask = ({ core, log, knows }: Awaited<ReturnType<typeof startSite>>, text: string) =>
    witnessCheckpoint({ pg: core.pg, witness: log.witness, keys: knows, now: core.now }, text)

  it('refuses logs that it does not know, other keys, and malformed requests', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    await appendAndSeal(site)
    const text = await requestOf(site, 0)
    expect(await ask(witness, text)).toMatchObject({ status: 404 })
    witness.knows.push(site.log.signer.verifierKey)
    const signature = text.slice(text.indexOf('— '))
    const other = witness.log.signer.sign('x')
    expect(await ask(witness, text.replace(signature, other))).toMatchObject({ status: 403 })
    for (const wrong of ['', 'old x\n\n', text.replace('old 0', 'old -1'), text.slice(0, 20)]) {
      expect(await ask(witness, wrong)).toMatchObject({ status: 400 })
    }
    expect(await ask(witness, text.replace('old 0', 'old 7'))).toMatchObject({ status: 400 })
    expect(await ask(witness, text)).toMatchObject({ status: 200 })
  })

  it('does not sign a history that was rewritten and signed again with the right key', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    await appendAndSeal(site, 300)
    expect(await ask(witness, await requestOf(site, 0))).toMatchObject({ status: 200 })
    await site.core.pg.query("update event_store.events set actor = 'user:2' where position = 3")
    const tables = 'transparency_log.tiles, transparency_log.checkpoints'
    await site.core.pg.query(`truncate ${tables}`)
    await site.core.pg.query('update transparency_log.log set size = 0, last_position = 0')
    await appendAndSeal(site, 5)
    const [latest] = await listCheckpoints(site.core.pg, 1)
    expect(latest?.size).toBe(305)
    expect(await ask(witness, await requestOf(site, 300))).toMatchObject({ status: 422 })
    expect(await ask(witness, await requestOf(site, 0))).toEqual({ status: 409, text: '300\n' })
  })

  it('signs one of fifty histories that are shown at once', async () => {
    const witness = await startSite()
    const site = await startSite()
    witness.knows.push(site.log.signer.verifierKey)
    const texts = Array.from({ length: 50 }, (_, i) => {
      const body = checkpointBody(site.log.origin, 10, Buffer.alloc(32, i))
      return `old 0\n\n${noteOf(body, [site.log.signer.sign(body)])}`
    })
    const answers = await Promise.all(texts.map((text) => ask(witness, text)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(49)
  })
})

describe('the publication of a checkpoint', () => {
  it('appends it to a file and sends it to a webhook, also if a witness is down', async () => {
    const site = await startSite()
    const received: string[] = []
    const hook = createServer(async (request, response) => {
      for await (const chunk of request) received.push(String(chunk))
      response.end()
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    closers.push(() => hook.close())
    const { port } = hook.address() as { port: number }
    const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'checkpoints')
    await appendAndSeal(site, 3)
    const down = { key: site.log.witness.witnessKey, url: 'http://127.0.0.1:1' }
    await publish(site, { witnesses: [down], file, webhook: `http://127.0.0.1:${port}/hook` })
    const [latest] = await listCheckpoints(site.core.pg, 1)
    expect(received.join('')).toBe(latest?.note)
    expect(readFileSync(file, 'utf8')).toBe(`${latest?.note}\n`)
  })

  it('sends each checkpoint in order, also those of the time when it failed', async () => {
    const site = await startSite()
    const received: string[] = []
    let status = 503
    const hook = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      if (status === 200) received.push(text)
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    closers.push(() => hook.close())
    const { port } = hook.address() as { port: number }
    const folder = mkdtempSync(join(tmpdir(), 'log-'))
    const webhook = `http://127.0.0.1:${port}/hook`
    await appendAndSeal(site, 3)
    expect(await publish(site, { file: join(folder, 'none', 'file'), webhook })).toBe(false)
    await appendAndSeal(site, 2)
    await appendAndSeal(site, 1)
    status = 200
    const file = join(folder, 'file')
    expect(await publish(site, { file, webhook })).toBe(true)
    const notes = (await listCheckpoints(site.core.pg, 5)).map(({ note }) => note).toReversed()
    expect(notes).toHaveLength(3)
    expect(received).toEqual(notes)
    expect(readFileSync(file, 'utf8')).toBe(notes.map((note) => `${note}\n`).join(''))
    expect(await publish(site, { file, webhook })).toBe(true)
    expect(received).toHaveLength(3)
  })

  it('begins again with a log that was begun again', async () => {
    const site = await startSite()
    const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'file')
    await appendAndSeal(site, 5)
    expect(await publish(site, { file })).toBe(true)
    await site.core.pg.query('delete from event_store.events where position > 2')
    await site.core.pg.query('truncate transparency_log.tiles, transparency_log.checkpoints')
    await site.core.pg.query('update transparency_log.log set size = 0, last_position = 0')
    await appendAndSeal(site, 0)
    const [latest] = await listCheckpoints(site.core.pg, 1)
    expect(await publish(site, { file })).toBe(true)
    expect(readFileSync(file, 'utf8')).toContain(`\n2\n${latest?.root.toString('base64')}\n`)
  })
})

describe('an idle site', () => {
  const POLL = { timeout: 30_000, interval: 50 }

  /** Starts to seal with a witness that answers when `isUp` is set. */
  async function startSealing(site: Site, witness: Site, file: string, quorum = 1) {
    const state = { isUp: false, attempts: 0 }
    const gate = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      state.attempts += 1
      if (!state.isUp) return response.destroy()
      const answer = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body })
      response.writeHead(answer.status).end(await answer.text())
    })
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
    closers.push(() => gate.close())
    const { port } = gate.address() as { port: number }
    const witnesses = [{ key: witness.log.witness.witnessKey, url: `http://127.0.0.1:${port}` }]
    const { config } = site.core
    const transparencyLog = { ...config.transparencyLog, witnesses, quorum, file }
    const core = { ...site.core, config: { ...config, transparencyLog } }
    const sealer = await startSealer(core, { everyMs: 20 })
    closers.push(() => sealer.stop())
    return state
  }

  it('asks a witness that was down again, until it has signed', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    witness.knows.push(site.log.signer.verifierKey)
    const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'file')
    await appendAndSeal(site, 5)
    const state = await startSealing(site, witness, file)
    await expect.poll(() => state.attempts, POLL).toBeGreaterThan(2)
    expect(await isCosigned(site, witness)).toBe(false)
    state.isUp = true
    await expect.poll(() => isCosigned(site, witness), POLL).toBe(true)
  })

  it('publishes at the start what a process that died had sealed', async () => {
    const [site, witness] = [await startSite(), await startSite()]
    const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'file')
    await appendAndSeal(site, 5)
    const [latest] = await listCheckpoints(site.core.pg, 1)
    await startSealing(site, witness, file, 0)
    const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    await expect.poll(read, POLL).toBe(`${latest?.note}\n`)
  })
})

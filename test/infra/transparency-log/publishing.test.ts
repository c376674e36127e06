import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Config } from '#infra/config/config-types.ts'
import { createOutbound, MANAGEMENT_LIMITS } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { publishCheckpoints } from '#infra/transparency-log/publish-checkpoints.ts'
import { listCheckpoints } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startSealer } from '#infra/transparency-log/sealer.ts'
import { testCore } from '#test/support/test-core.ts'

const POLL = { timeout: 60_000, interval: 50 }

let running: Awaited<ReturnType<typeof testCore>>
const closers: (() => unknown)[] = []

beforeEach(async () => {
  running = await testCore()
  closers.push(() => running.close())
  await ensureLogSchema(running.core)
}, 120_000)

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
}, 120_000)

async function append(): Promise<void> {
  const event = {
    id: randomUUID(),
    ...{ type: 'Noted', v: 1, data: {}, meta: { actor: 'user:1', cause: null, at: 1 } },
  }
  await running.core.store.append([{ stream: 'user-1', expected: 'any', events: [event] }])
}

async function appendAndSeal(): Promise<void> {
  const { core } = running
  await append()
  const log = await openTransparencyLog(core)
  const deps = { pg: core.pg, log, readLeaves: leafReader(core), now: core.now }
  await sealEvents({ ...deps, arePositionsDense: true })
}

/** The core with these settings of the log. */
function coreWith(settings: Partial<Config['transparencyLog']>) {
  const { core } = running
  const transparencyLog = { ...core.config.transparencyLog, ...settings }
  return { ...core, config: { ...core.config, transparencyLog } }
}

async function startHook(answer: (response: ServerResponse, note: string) => void) {
  const hook = createServer(async (request, response) => {
    let note = ''
    for await (const chunk of request) note += String(chunk)
    answer(response, note)
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    hook.closeAllConnections()
    hook.close()
  })
  const { port } = hook.address() as { port: number }
  return `http://127.0.0.1:${port}/hook`
}

const notes = async (): Promise<string[]> =>
  (await listCheckpoints(running.core.pg, 20)).map(({ note }) => note).toReversed()

describe('publishing', { timeout: 180_000 }, () => {
  it('to a webhook that does not answer delays no checkpoint, and keeps their order', async () => {
    // Without time limits, nothing but an answer ends a request, however busy the machine is.
    const deadlines = vi.spyOn(AbortSignal, 'timeout')
    closers.push(() => deadlines.mockRestore())
    deadlines.mockImplementation(() => new AbortController().signal)
    const received: string[] = []
    const open: ServerResponse[] = []
    let openMax = 0
    let isSlow = true
    const webhook = await startHook((response, note) => {
      received.push(note)
      open.push(response)
      openMax = Math.max(openMax, open.length)
      if (!isSlow) open.shift()?.end()
    })
    await append()
    const limits = { ...MANAGEMENT_LIMITS, headersTimeoutMs: 0, bodyTimeoutMs: 0 }
    const sealer = await startSealer(coreWith({ webhook }), { everyMs: 20, limits })
    closers.push(() => sealer.stop())
    await expect.poll(() => open.length, POLL).toBe(1)
    for (const sizes of [2, 3]) {
      await append()
      await expect.poll(async () => (await notes()).length, POLL).toBe(sizes)
    }
    isSlow = false
    open.shift()?.end()
    await expect.poll(() => received, POLL).toEqual(await notes())
    expect(openMax).toBe(1)
  })

  it('goes on while sealing fails', async () => {
    await appendAndSeal()
    await running.core.pg.query("update event_store.events set actor = 'user:2'")
    await append()
    const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'file')
    const sealer = await startSealer(coreWith({ file }), { everyMs: 20 })
    closers.push(() => sealer.stop())
    const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    const [note] = await notes()
    await expect.poll(read, POLL).toBe(`${note}\n`)
    expect(await notes()).toHaveLength(1)
  })

  it('begins no request after its process was stopped', async () => {
    const stopping = new AbortController()
    const received: string[] = []
    const webhook = await startHook((response, note) => {
      received.push(note)
      stopping.abort()
      response.end()
    })
    await appendAndSeal()
    await appendAndSeal()
    const outbound = createOutbound(operatorPolicy(running.core.config))
    closers.push(() => outbound.close())
    const deps = { ...coreWith({ webhook }), outbound, signal: stopping.signal }
    expect(await publishCheckpoints(deps)).not.toBe('complete')
    expect(received).toEqual((await notes()).slice(0, 1))
  })
})

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '#infra/config/read-config.ts'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { type RunningCore, startCore } from '#infra/start-core.ts'
import { readBook } from '#test/relay/support/accounts-from-events.ts'
import { type Call, callAtOnce } from '#test/relay/support/send-many-calls.ts'
import {
  type ProviderProcess,
  SHORT_LEASES,
  startProviderProcess,
  startSite,
} from '#test/support/multi-process-site.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, setOption, setUpSite } from '#test/support/test-product.ts'

/** A stream takes two seconds, so that a test can kill or drain a worker during a stream. */
const PACE = { firstByteMs: 0, gapMs: 50, answerTokens: 40 }

let product: ProductProcess
let provider: ProviderProcess
let root: ConsoleClient
let key: string
let core: RunningCore

beforeAll(async () => {
  product = await ProductProcess.create({
    RELAY_WORKERS: '2',
    ROLES: 'write-api,read-api,projections,relay',
    METRICS_TOKEN: 'scraper',
    NODE_OPTIONS: SHORT_LEASES,
  })
  ;[provider] = await Promise.all([startProviderProcess(PACE), product.start()])
  root = await setUpSite(product.url)
  await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
  await addChannel({ root, provider }, { models: 'sim-small' })
  key = (await root.createToken({ name: 'own', unlimited_quota: true })).key
})

afterAll(async () => {
  await product?.close()
  provider?.close()
})

const fileOf = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').replaceAll('\0', '\n')
  } catch {
    return ''
  }
}

const workers = (): number[] =>
  treeOf(product.pid).filter((pid) => fileOf(pid, 'cmdline').includes('worker-program'))

const environmentOf = (pid: number, name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(fileOf(pid, 'environ'))?.[1] ?? ''

/** Starts streams. Resolves when the provider has received all of their requests. */
async function streams(count: number): Promise<Promise<Call>[]> {
  const before = (await provider.journal()).length
  const calls = callAtOnce(count, [product.url], key)
  await expect.poll(async () => (await provider.journal()).length).toBe(before + count)
  return calls
}

const outcomes = async (calls: readonly Promise<Call>[]) =>
  (await Promise.all(calls)).map(({ outcome }) => outcome)

describe('RELAY_WORKERS=2 on a bare machine', () => {
  it('prints once that it is ready, and how to begin', async () => {
    await expect.poll(() => product.output).toContain(`${product.url}/setup?token=`)
    expect(product.output.match(/is ready/g)).toHaveLength(1)
    expect(product.output.match(/token=/g)).toHaveLength(1)
    expect(workers()).toHaveLength(2)
  })

  it('shows no secret on a command line', () => {
    const [worker = 0] = workers()
    const secrets = ['DATABASE_URL', 'SECRET_KEY'].map((name) => environmentOf(worker, name))
    expect(secrets.every((secret) => secret.length > 20)).toBe(true)
    for (const pid of treeOf(product.pid)) {
      expect(secrets.filter((secret) => fileOf(pid, 'cmdline').includes(secret))).toEqual([])
    }
  })

  it('reports the metrics of each process, whichever process is asked', async () => {
    const headers = { authorization: 'Bearer scraper' }
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await fetch(`${product.url}/metrics`, { headers })
      const text = await answer.text()
      for (const name of ['primary', 'worker-1', 'worker-2']) {
        expect(text).toMatch(new RegExp(`^process_cpu_seconds_total\\{process="${name}"\\} `, 'm'))
      }
      expect(text).toMatch(/^tallygate_projection_position\{projection="users",process="primary"/m)
    }
  })

  it('a live socket shows the calls of both workers', async () => {
    const socket = new WebSocket(`${product.url.replace('http', 'ws')}/api/live`, {
      headers: { ...root.sessionHeaders, origin: product.url },
    })
    const seen: string[] = []
    socket.on('message', (bytes) => seen.push(String(bytes)))
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', topics: ['logs'] })))
    await expect.poll(() => seen.some((text) => text.includes('"ready"'))).toBe(true)
    const before = callsByWorker(await metrics())
    const calls = await streams(6)
    const under = callsByWorker(await metrics())
    expect([...under.values()].filter((count) => count > 0)).toHaveLength(2)
    expect([...before.values()]).toEqual([0, 0])
    const rows = (await Promise.all(calls)).map(({ requestId }) => requestId)
    await expect
      .poll(() => rows.filter((id) => !seen.some((text) => text.includes(id))))
      .toEqual([])
    socket.terminate()
  })
})

describe('a worker killed in mid-stream', () => {
  it('ends its own calls only, is replaced, and its holds end, once per call', async () => {
    const [victim = 0] = workers()
    const environment = {
      DATABASE_URL: environmentOf(victim, 'DATABASE_URL'),
      SECRET_KEY: environmentOf(victim, 'SECRET_KEY'),
    }
    core = await startCore(readConfig({ ...environment, LOG_LEVEL: 'silent' }))
    const calls = await streams(20)
    process.kill(victim, 'SIGKILL')
    const ended = await outcomes(calls)
    const cut = ended.filter((outcome) => outcome === 'cut').length
    expect(cut).toBeGreaterThan(3)
    expect(cut).toBeLessThan(17)
    expect(ended).not.toContain('refused')
    await expect.poll(() => workers().filter((pid) => pid !== victim).length).toBe(2)
    await expect.poll(() => product.output).toContain('the replacement worker serves')
    expect(product.output).toContain('a worker process died')
    await expect
      .poll(async () => (await readBook(core.core.store)).open, { timeout: 30_000, interval: 250 })
      .toEqual([])
    const book = await readBook(core.core.store)
    await core.close()
    expect(book.endedNotOnce).toEqual([])
    const interrupted = book.events.filter(({ type }) => type === 'CallInterrupted')
    expect(interrupted).toHaveLength(cut)
    expect(book.ledgerSum).toBe(0n)
  })
})

describe('a worker killed while it is frozen', () => {
  it('does not lose the connection on its way to it, which another worker serves', async () => {
    const [victim = 0] = workers()
    process.kill(victim, 'SIGSTOP')
    const statuses: number[] = []
    const calls = Array.from({ length: 20 }, async () => {
      statuses.push(await connectAndGet('/livez'))
    })
    await expect.poll(() => statuses.length).toBe(19)
    process.kill(victim, 'SIGKILL')
    await Promise.all(calls)
    expect(statuses).toEqual(Array(20).fill(200))
    await expect.poll(() => workers().filter((pid) => pid !== victim).length).toBe(2)
  })
})

describe('stopping the product', () => {
  it('after kill -9 of the primary no worker remains, and the next start is normal', async () => {
    const orphans = workers()
    expect(orphans).toHaveLength(2)
    process.kill(product.pid, 'SIGKILL')
    await expect.poll(() => orphans.filter((pid) => fileOf(pid, 'cmdline') !== '')).toEqual([])
    await product.start()
    expect(await outcomes(await streams(2))).toEqual(['whole', 'whole'])
  })

  it('SIGTERM lets every stream of every worker finish, and ends all with 0', async () => {
    const tree = treeOf(product.pid)
    const calls = await streams(10)
    const stopped = product.stop()
    expect(await outcomes(calls)).toEqual(Array(10).fill('whole'))
    expect(await stopped).toBe(0)
    expect(tree.filter((pid) => fileOf(pid, 'cmdline') !== '')).toEqual([])
  })
})

describe('a start that fails', () => {
  it('ends with the error of the worker that cannot serve, and leaves no process', async () => {
    const site = await startSite()
    const taken = createServer()
    await once(taken.listen(0, '127.0.0.1'), 'listening')
    const { port } = taken.address() as AddressInfo
    const more = { RELAY_WORKERS: '2', PORT: String(port) }
    await expect(site.start('relay,projections', more)).rejects.toThrow(
      /ended with 1:.*PORT: another program is listening on it/s,
    )
    await new Promise((closed) => taken.close(closed))
    await site.close()
  })
})

/** Sends a request on a new connection. */
function connectAndGet(path: string): Promise<number> {
  return new Promise((answered, failed) => {
    get(`${product.url}${path}`, { agent: false }, (response) => {
      response.resume()
      answered(response.statusCode ?? 0)
    }).on('error', failed)
  })
}

async function metrics(): Promise<string> {
  const headers = { authorization: 'Bearer scraper' }
  return (await fetch(`${product.url}/metrics`, { headers })).text()
}

function callsByWorker(text: string): Map<string, number> {
  const found = text.matchAll(/^tallygate_relay_calls_in_flight\{process="(worker-\d)"\} (\d+)/gm)
  return new Map([...found].map(([, name = '', count]) => [name, Number(count)]))
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PermitsClaim } from '#infra/limits/port.ts'
import { budget } from '#test/support/time-limit.ts'
import { type OwnRedis, redisEngine, startOwnRedis } from '../../support/test-redis.ts'
import { admitted, permitFor, permitsOf, rate, waitFor } from '../limits/limits-suite.ts'
import { type Load, type Opened, openShared, PATIENT_MS, underLoad } from './open-shared-limits.ts'

type LatentProxy = {
  readonly url: string
  /** The delay of each response from now on, in milliseconds. */
  delayMs: number
  readonly close: () => Promise<void>
}

/** Starts a proxy in front of a local Redis. It delays responses and keeps their order. */
async function startLatentProxy(port: number): Promise<LatentProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    const delayed: Buffer[] = []
    let sent = 0
    // A response takes all earlier ones with it, because the client matches responses by order.
    const sendUntil = (count: number): void => {
      while (sent < count) {
        const bytes = delayed.shift()
        sent += 1
        if (bytes !== undefined && client.writable) client.write(bytes)
      }
    }
    let received = 0
    upstream.on('data', (bytes: Buffer) => {
      delayed.push(bytes)
      received += 1
      const count = received
      if (proxy.delayMs === 0) sendUntil(count)
      else setTimeout(() => sendUntil(count), proxy.delayMs).unref()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: LatentProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayMs: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/**
 * The longest allowed time for a decision during a failure of Redis, with slack for a busy machine.
 */
const DECISION_MS_MAX = 1_000

const canHarm = redisEngine === 'redis-server'
const reason = canHarm ? '' : ' (skipped: there is no redis-server here to do harm to)'

describe.skipIf(!canHarm)(`limits under load${reason}`, () => {
  let server: OwnRedis
  let admin: Redis
  let proxy: LatentProxy
  let one: Opened
  let load: Load
  beforeEach(async () => {
    server = await startOwnRedis()
    admin = new Redis(server.url)
    admin.on('error', () => {})
    proxy = await startLatentProxy(server.port)
    one = await openShared(proxy.url)
    load = underLoad(one)
    await expect.poll(() => admin.dbsize()).toBeGreaterThan(20)
  })
  afterEach(async () => {
    await expect.poll(() => load.decisions()).toBeGreaterThan(100)
    const msMax = await load.stop()
    await one.close()
    admin.disconnect()
    await proxy.close()
    await server.stop()
    expect(msMax).toBeLessThan(budget(DECISION_MS_MAX))
  })

  const isLost = () => expect.poll(() => one.isDegraded(), { interval: 5 }).toBe(true)
  const isBack = () => expect.poll(() => one.isDegraded()).toBe(false)
  /**
   * Expects that the loss and the recovery of Redis were logged alternately, without repetitions.
   * Reasons of failed connections are ignored.
   */
  const expectAlternatingWarnings = () => {
    const warnings = one.said.filter((line) => !line.startsWith('REDIS_URL: '))
    expect(warnings.length).toBeGreaterThan(1)
    for (const [at, line] of warnings.entries()) {
      expect(line).toMatch(at % 2 === 0 ? /is unavailable/ : /is available again/)
    }
  }

  it('keep deciding when Redis is killed and starts again empty', async () => {
    const room = permitsOf(3)
    await permitFor(one, room)
    await server.kill()
    await isLost()
    expect(await admitted(one, 50, rate(10))).toBe(10)
    // The permit that was acquired before the failure still counts.
    expect(await admitted(one, 50, room)).toBe(2)
    await server.restart()
    await isBack()
    expect(await waitFor(one, room)).toBe(1_000)
    expectAlternatingWarnings()
  })

  it('keep deciding when Redis freezes and then continues', async () => {
    const room = permitsOf(3)
    server.signal('SIGSTOP')
    await isLost()
    expect(await admitted(one, 50, room)).toBe(3)
    server.signal('SIGCONT')
    await isBack()
    expect(await waitFor(one, room)).toBe(1_000)
    expectAlternatingWarnings()
  })

  it('release in Redis the permits that were released while Redis was frozen', async () => {
    const room = permitsOf(3)
    const permits = [
      await permitFor(one, room),
      await permitFor(one, room),
      await permitFor(one, room),
    ]
    server.signal('SIGSTOP')
    await isLost()
    for (const permit of permits) permit.release({ isRefunded: false })
    server.signal('SIGCONT')
    await isBack()
    await expect.poll(() => permitsIn(admin, room), { timeout: 2_000 }).toBe(0)
    expect(await admitted(one, 50, room)).toBe(3)
  })

  it('keep deciding when Redis answers after five seconds', async () => {
    proxy.delayMs = 5_000
    await isLost()
    expect(await admitted(one, 50, rate(10))).toBe(10)
    proxy.delayMs = 0
    await isBack()
  })

  it('restore their permits when Redis loses all data (FLUSHALL)', async () => {
    const room = permitsOf(1)
    const permit = await permitFor(one, room)
    await admin.flushall()
    await expect.poll(() => permitsIn(admin, room)).toBe(1)
    expect(await waitFor(one, room)).toBe(1_000)
    permit.release({ isRefunded: false })
    await expect.poll(() => waitFor(one, room)).toBe(0)
  })

  it('send their scripts again within the decision when Redis forgets them', async () => {
    const patient = await openShared(server.url, { answerMs: PATIENT_MS })
    await permitFor(patient, rate(10))
    await admin.script('FLUSH')
    expect(await admitted(patient, 50, rate(10))).toBe(10)
    expect(patient.said).toEqual([])
    await patient.close()
  })

  it('keep deciding when Redis has no memory left', async () => {
    const limits = await admin.config('GET', 'maxmemory')
    await admin.config('SET', 'maxmemory', '1')
    await isLost()
    expect(await admitted(one, 50, rate(10))).toBe(10)
    await admin.config('SET', ...(limits as [string, string]))
    await isBack()
    expectAlternatingWarnings()
  })

  it('keep deciding when Redis becomes a replica, as in a failover, and recovers', async () => {
    const primary = await startOwnRedis()
    try {
      await admin.replicaof('127.0.0.1', primary.port)
      await isLost()
      expect(await admitted(one, 50, rate(10))).toBe(10)
      await admin.replicaof('NO', 'ONE')
      await isBack()
    } finally {
      await primary.stop()
    }
  })

  it('allow each of two processes half, rounded up, when Redis is lost', async () => {
    const other = await openShared(server.url)
    try {
      await waitFor(other, rate(1))
      // Only the process of `one` decides calls.
      await waitFor(one.calls, rate(1))
      await expect.poll(() => one.instances()).toBe(2)
      await expect.poll(() => other.instances()).toBe(2)
      await server.kill()
      await isLost()
      expect(await admitted(one, 50, rate(10))).toBe(5)
      expect(await admitted(one, 50, permitsOf(5))).toBe(3)
      expect(await admitted(one, 50, rate(1))).toBe(1)
      expect([one.instances('calls'), other.instances('calls')]).toEqual([1, 1])
      expect(await admitted(one.calls, 50, rate(10))).toBe(10)
    } finally {
      await other.close()
    }
  })
})

const permitsIn = (admin: Redis, { key }: PermitsClaim): Promise<number> =>
  admin.zcard(`tallygate:{user:7}:seats:${key}`)

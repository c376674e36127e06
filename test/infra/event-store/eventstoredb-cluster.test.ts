import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ConfigError } from '#infra/config/config-types.ts'
import { connectEventStoreDb } from '#infra/event-store/eventstoredb/connection.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import type { Member } from '../../support/event-store-db/gossip.ts'
import {
  type EventStoreDbServer,
  startEventStoreDbServer,
} from '../../support/event-store-db/server.ts'
import { openServerLog, type ServerLog } from '../../support/event-store-db/server-log.ts'
import { collect, newEvent, newStream, to } from './conformance.ts'
import { startWriters } from './start-writers.ts'

type EventStoreDbCluster = {
  readonly url: string
  /** Contains the address of one node, through which clients discover the other nodes. */
  readonly discoverUrl: string
  readonly log: ServerLog
  readonly appends: () => readonly number[]
  /** Stops the leader. Another node becomes the leader after `electionMs`. */
  readonly killLeader: (electionMs: number) => Promise<void>
  /**
   * Makes another node the leader. The former leader becomes a follower, so clients must reconnect.
   */
  readonly moveLeader: () => void
  readonly stop: () => Promise<void>
}

/** Starts a cluster with one leader. All nodes share one log, as if replication were immediate. */
async function startEventStoreDbCluster(size = 3): Promise<EventStoreDbCluster> {
  const log = openServerLog()
  const nodes: { server: EventStoreDbServer; port: number; isAlive: boolean }[] = []
  let leader: number | null = 0
  const members = (): Member[] =>
    nodes.map(({ port, isAlive }, index) => ({ port, isAlive, isLeader: index === leader }))
  for (let index = 0; index < size; index += 1) {
    const server = await startEventStoreDbServer({ log, members })
    nodes.push({ server, port: portOf(server), isAlive: true })
  }
  const others = (): number => nodes.findIndex(({ isAlive }, index) => isAlive && index !== leader)
  const places = nodes.map(({ port }) => `127.0.0.1:${port}`)
  return {
    log,
    url: `esdb://${places.join(',')}?tls=false&nodePreference=leader`,
    discoverUrl: `esdb+discover://${places.at(-1)}?tls=false&nodePreference=leader`,
    appends: () => nodes.map(({ server }) => server.seen().appends),
    killLeader: async (electionMs) => {
      const dead = leader === null ? undefined : nodes[leader]
      if (dead === undefined) return
      const next = others()
      dead.isAlive = false
      leader = null
      await dead.server.stop()
      await new Promise((resolve) => setTimeout(resolve, electionMs))
      leader = next
    },
    moveLeader: () => {
      leader = others()
    },
    stop: async () => {
      await Promise.all(nodes.filter(({ isAlive }) => isAlive).map(({ server }) => server.stop()))
    },
  }
}

const portOf = ({ url }: EventStoreDbServer): number =>
  Number(new URL(url.replace('esdb', 'http')).port)

const log = pino({ level: 'silent' })

async function startedCluster() {
  const cluster = await startEventStoreDbCluster()
  onTestFinished(() => cluster.stop())
  return cluster
}

async function openedStore(url: string) {
  const store = await createEventStoreDbStore({
    ...{ url, locks: createMemoryLocks(), log, deadlineMs: 20_000 },
  })
  onTestFinished(() => store.close())
  return store
}

it.each(['url', 'discoverUrl'] as const)('appends go to the leader node: %s', async (name) => {
  const cluster = await startedCluster()
  const store = await openedStore(cluster[name])
  for (let n = 0; n < 10; n += 1) await store.append([to(newStream(), 'none', [newEvent({ n })])])
  expect(cluster.appends()).toEqual([10, 0, 0])
})

it('no event is lost or repeated when a leader dies or steps down', async () => {
  const cluster = await startedCluster()
  const store = await openedStore(cluster.url)
  const seen: string[] = []
  const subscription = store.subscribeAll(
    0,
    async (events) => void seen.push(...events.map(({ id }) => id)),
    (error) => expect.fail(String(error)),
  )
  const load = startWriters(store, 4, 15_000)
  await load.untilMore(50)
  await cluster.killLeader(300)
  await load.untilMore(50)
  cluster.moveLeader()
  await load.untilMore(50)
  const ids = await load.end()
  const all = await collect(store, 0, ids.length)
  expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort())
  await expect.poll(() => seen.length).toBe(ids.length)
  expect(seen).toEqual(all.map(({ id }) => id))
  expect(cluster.appends().filter((count) => count > 0).length).toBeGreaterThanOrEqual(2)
  await subscription.stop()
})

describe('an unusable address, which the error names', () => {
  it.each([
    ['an interval that is no number', 'esdb://127.0.0.1:2113?tls=false&keepAliveInterval=soon'],
    ['an interval below zero', 'esdb://127.0.0.1:2113?tls=false&keepAliveInterval=-5'],
    ['tls that is neither', 'esdb://127.0.0.1:2113?tls=perhaps'],
    ['a preference that is none', 'esdb://127.0.0.1:2113?nodePreference=loudest'],
    ['no port to speak of', 'esdb://127.0.0.1:port?tls=false'],
    ['an option twice', 'esdb://127.0.0.1:2113?tls=false?tls=true'],
  ])('%s', (_what, url) => {
    let fault: unknown
    try {
      connectEventStoreDb(url).close()
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(ConfigError)
    expect((fault as Error).message).toMatch(/^EVENTSTORE_URL[^\n]+$/)
  })
})

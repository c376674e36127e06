import type { Member } from './gossip.ts'
import { type EventStoreDbServer, startEventStoreDbServer } from './server.ts'
import { openServerLog, type ServerLog } from './server-log.ts'

export type EventStoreDbCluster = {
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
export async function startEventStoreDbCluster(size = 3): Promise<EventStoreDbCluster> {
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

import type { Member } from './gossip.ts'
import { type EventStoreDbServer, startEventStoreDbServer } from './server.ts'
import { openServerLog, type ServerLog } from './server-log.ts'

export type EventStoreDbCluster = {
  /** Names every node. */
  readonly url: string
  /** Names one node, which tells of the others. */
  readonly discoverUrl: string
  readonly log: ServerLog
  /** Appends that each node took. */
  readonly appends: () => readonly number[]
  /** The leader dies; for `electionMs` there is none, then the next node leads. */
  readonly killLeader: (electionMs: number) => Promise<void>
  /** The leader stays as it is and follows from now on: its clients have to go elsewhere. */
  readonly moveLeader: () => void
  readonly stop: () => Promise<void>
}

/** Nodes that have one log between them, as replicas that lost nothing would: one leads. */
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

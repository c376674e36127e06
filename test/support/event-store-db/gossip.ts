import { Metadata, status } from '@grpc/grpc-js'
import { gossip } from './protocol.ts'

export type Member = {
  readonly port: number
  readonly isAlive: boolean
  readonly isLeader: boolean
}

export type Members = () => readonly Member[]

const FOLLOWER = 6
const LEADER = 8

export function clusterInfo(members: readonly Member[]) {
  const info = new gossip.ClusterInfo()
  for (const { port, isAlive, isLeader } of members) {
    const member = new gossip.MemberInfo()
    const place = new gossip.EndPoint()
    place.setAddress('127.0.0.1')
    place.setPort(port)
    member.setHttpEndPoint(place)
    member.setIsAlive(isAlive)
    member.setState(isLeader ? LEADER : FOLLOWER)
    info.addMembers(member)
  }
  return info
}

/**
 * Returns the error of a follower that received a request for the leader. Returns null on the
 * leader.
 */
export function notLeader(members: Members | undefined, port: number, asked: Metadata) {
  if (members === undefined || String(asked.get('requires-leader')[0]) !== 'true') return null
  const leader = members().find(({ isLeader }) => isLeader)
  if (leader?.port === port) return null
  const metadata = new Metadata()
  const details = 'Leader info available'
  if (leader === undefined) return { code: status.UNAVAILABLE, details: 'no leader yet', metadata }
  metadata.set('exception', 'not-leader')
  metadata.set('leader-endpoint-host', '127.0.0.1')
  metadata.set('leader-endpoint-port', String(leader.port))
  return { code: status.NOT_FOUND, details, metadata }
}

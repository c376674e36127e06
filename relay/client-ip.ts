import type { IncomingMessage } from 'node:http'
import { addressSet, plainAddress } from '#infra/outbound/ip-addresses.ts'

/**
 * Determines the client's IP address. `X-Forwarded-For` is read from the right, up to the first
 * address that is not a trusted proxy. A client can forge the addresses further left.
 */
export function clientIpReader(
  trustProxy: readonly string[],
): (request: IncomingMessage) => string {
  const isTrusted = trustProxy.length === 0 ? () => false : addressSet(trustProxy)
  return (request) => {
    const peer = request.socket.remoteAddress ?? ''
    const direct = peer.startsWith('::ffff:') ? (plainAddress(peer) ?? peer) : peer
    const forwarded = request.headers['x-forwarded-for']
    if (forwarded === undefined || !isTrusted(direct)) return direct
    let nearest = direct
    for (const entry of String(forwarded).split(',').reverse()) {
      const address = plainAddress(entry.trim())
      if (address === null) return nearest
      nearest = address
      if (!isTrusted(address)) return address
    }
    return nearest
  }
}

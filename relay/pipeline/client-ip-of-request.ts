import { addressSet, plainAddress } from '#infra/outbound/ip-addresses.ts'
import type { CallRequest } from './http-request-and-response-types.ts'

/**
 * Returns a function that determines the client's IP address. If the connection comes from a
 * trusted proxy, the function reads `X-Forwarded-For` from the right. The client's address is the
 * first one that is not a trusted proxy, because a client can forge all addresses to the left of
 * this address. If all addresses are trusted proxies, the leftmost one is returned. At an invalid
 * entry, the function returns the address to the right of the entry.
 */
export function clientIpReader(trustProxy: readonly string[]): (request: CallRequest) => string {
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

import { plainAddress } from '../outbound/ip-addresses.ts'
import type { Vault } from '../vault/port.ts'

/**
 * Returns a keyed hash of the client address, under which the requests of the client are counted.
 * The IPv6 addresses of a /64 network share one hash, because a subscriber usually has a complete
 * /64 network.
 */
export const addressKey = (vault: Pick<Vault, 'keyedHash'>, ip: string): string =>
  vault.keyedHash('address', addressLine(ip))

/**
 * Returns a keyed hash of the client's network (a /24 of IPv4 or a /48 of IPv6). One owner can use
 * all addresses of such a network.
 */
export function networkKey(vault: Pick<Vault, 'keyedHash'>, ip: string): string {
  const line = addressLine(ip)
  const parts = line.includes(':') ? line.split(':', 3) : line.split('.', 3)
  return vault.keyedHash('address', `network ${parts.join(' ')}`)
}

/**
 * Returns the client's network in plain form: `203.0.113.0/24`, or `2001:db8:0::/48`. Returns an
 * empty text if a proxy sent something that is not an address.
 */
export function networkOf(ip: string): string {
  if (plainAddress(ip) === null) return ''
  const line = addressLine(ip)
  return line.includes(':')
    ? `${line.split(':').slice(0, 3).join(':')}::/48`
    : `${line.split('.').slice(0, 3).join('.')}.0/24`
}

/**
 * Returns the client address, or the /64 network of an IPv6 address. Requests with the same result
 * are counted together. A text that is not an address is returned unchanged.
 */
export function addressLine(ip: string): string {
  const address = plainAddress(ip)
  if (address === null || !address.includes(':')) return address ?? ip
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  // The zeros that `::` abbreviates are inserted between the two halves of the address.
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

import { plainAddress } from '../outbound/address.ts'
import type { Vault } from '../vault/port.ts'

/**
 * The key by which a visitor's address is counted, hashed. One line has a whole /64 of IPv6
 * addresses to choose from: that is one key, as is an IPv4 address however it is written.
 */
export const addressKey = (vault: Pick<Vault, 'keyedHash'>, ip: string): string =>
  vault.keyedHash('address', addressLine(ip))

/** What is counted as one address. */
export function addressLine(ip: string): string {
  const address = plainAddress(ip)
  if (address === null || !address.includes(':')) return address ?? ip
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  // Zeros that the spelling leaves out belong between the two halves.
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

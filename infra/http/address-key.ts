import { plainAddress } from '../outbound/address.ts'
import type { Vault } from '../vault/port.ts'

/**
 * Returns the hashed key under which a visitor's address is counted. A subscriber has a whole /64
 * of IPv6 addresses, so these share a key. An IPv4 address has one key however it is written.
 */
export const addressKey = (vault: Pick<Vault, 'keyedHash'>, ip: string): string =>
  vault.keyedHash('address', addressLine(ip))

/** Returns the text that stands for all addresses counted as one. */
export function addressLine(ip: string): string {
  const address = plainAddress(ip)
  if (address === null || !address.includes(':')) return address ?? ip
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  // The zeros that the spelling leaves out belong between the two halves.
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

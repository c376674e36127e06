import { BlockList, isIP } from 'node:net'

type Cidr = readonly [network: string, prefix: number]

const NOT_PUBLIC_IPV4: readonly Cidr[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

const NOT_PUBLIC_IPV6: readonly Cidr[] = [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const METADATA: readonly string[] = ['169.254.169.254', '100.100.100.200', 'fd00:ec2::254']

const notPublic = new BlockList()
for (const [network, prefix] of NOT_PUBLIC_IPV4) notPublic.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of NOT_PUBLIC_IPV6) notPublic.addSubnet(network, prefix, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const metadata = new BlockList()
for (const address of METADATA) metadata.addAddress(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

/**
 * Returns an address in plain form: without a zone, and as IPv4 if it is an IPv4-mapped IPv6
 * address. Returns null for other text.
 */
export function plainAddress(text: string): string | null {
  const zone = text.indexOf('%')
  const address = zone < 0 ? text : text.slice(0, zone)
  const family = isIP(address)
  if (family === 0) return null
  if (family === 4) return address
  // The URL class converts an IPv6 address to its canonical form, such as `::ffff:7f00:1`.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  if (!canonical.startsWith('::ffff:')) return canonical
  const [high, low] = canonical.slice(7).split(':')
  if (high === undefined || low === undefined) return canonical
  const bits = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16)
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.')
}

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

/**
 * Reports whether an address is public. This function, `isLoopbackAddress` and `isMetadataAddress`
 * require an address in the form that `plainAddress` returns.
 */
export const isPublicAddress = (address: string): boolean => !isIn(notPublic, address)
export const isLoopbackAddress = (address: string): boolean => isIn(loopback, address)
export const isMetadataAddress = (address: string): boolean => isIn(metadata, address)

/**
 * Returns a function that reports whether an address is in a set of addresses and CIDR ranges.
 * Invalid entries are ignored.
 */
export function addressSet(entries: Iterable<string>): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) addEntry(list, entry.trim())
  return (text) => {
    const address = plainAddress(text)
    return address !== null && isIn(list, address)
  }
}

function addEntry(list: BlockList, entry: string): void {
  const slash = entry.indexOf('/')
  const address = plainAddress(slash < 0 ? entry : entry.slice(0, slash))
  if (address === null) return
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  if (slash < 0) return list.addAddress(address, family)
  const prefix = Number(entry.slice(slash + 1))
  const bits = family === 'ipv4' ? 32 : 128
  if (Number.isInteger(prefix) && prefix >= 0 && prefix <= bits) {
    list.addSubnet(address, prefix, family)
  }
}

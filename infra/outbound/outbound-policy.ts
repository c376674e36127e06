import { networkInterfaces } from 'node:os'
import type { Config } from '#infra/config/config-types.ts'
import {
  addressSet,
  isLoopbackAddress,
  isMetadataAddress,
  isPublicAddress,
  plainAddress,
} from './ip-addresses.ts'

/**
 * Decides to which addresses connections may be opened. The `operator` policy is for addresses that
 * administrators enter, and allows the configured private upstreams. The `user` policy is for
 * addresses that users enter, and allows only public addresses on standard ports.
 */
export type OutboundPolicy = {
  readonly kind: 'operator' | 'user'
  readonly isAddressAllowed: (address: string, port: number) => boolean
  readonly isPortAllowed: (port: number) => boolean
}

export type UrlErrorCode = 'malformed' | 'scheme' | 'userinfo' | 'port' | 'address'

export type CheckedUrl =
  | { readonly isAllowed: true; readonly url: URL }
  | { readonly isAllowed: false; readonly error: UrlErrorCode }

/** Thrown for a forbidden connection. The message reveals nothing about the network. */
export class OutboundError extends Error {
  readonly code = 'OUTBOUND_REFUSED'
  constructor() {
    super('this address may not be used')
    this.name = 'OutboundError'
  }
}

type GuardConfig = Pick<Config, 'port' | 'isLoopback' | 'privateUpstreams'>

/**
 * Creates the policy for addresses that administrators enter. Allows public addresses and the
 * configured private addresses. Also allows loopback addresses if the server itself listens on a
 * loopback address. The server's own port on this machine and cloud metadata addresses are never
 * allowed.
 */
export function operatorPolicy(config: GuardConfig): OutboundPolicy {
  const listed = config.privateUpstreams.map((entry) => ({
    contains: addressSet([entry.cidr]),
    port: entry.port,
  }))
  const isAddressAllowed = (text: string, port: number): boolean => {
    const address = plainAddress(text)
    if (address === null || isMetadataAddress(address)) return false
    if (port === config.port && isOwnAddress(address)) return false
    if (isPublicAddress(address)) return true
    if (config.isLoopback && isLoopbackAddress(address)) return true
    return listed.some((entry) => entry.contains(address) && (entry.port ?? port) === port)
  }
  return { kind: 'operator', isAddressAllowed, isPortAllowed: (port) => port > 0 }
}

/**
 * The policy for addresses that users enter. Allows public addresses on ports 80 and 443. Private
 * upstreams are never allowed.
 */
export const userPolicy: OutboundPolicy = {
  kind: 'user',
  isAddressAllowed: (text) => {
    const address = plainAddress(text)
    return address !== null && isPublicAddress(address)
  },
  isPortAllowed: (port) => port === 443 || port === 80,
}

/**
 * Checks whether the policy allows a URL. The host name is not resolved here. Every connection
 * checks the resolved addresses.
 */
export function checkUrl(text: string, policy: OutboundPolicy): CheckedUrl {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return { isAllowed: false, error: 'malformed' }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { isAllowed: false, error: 'scheme' }
  }
  if (url.username !== '' || url.password !== '') return { isAllowed: false, error: 'userinfo' }
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  const port = portOf(url)
  if (!policy.isPortAllowed(port)) return { isAllowed: false, error: 'port' }
  const addresses = literalAddresses(url.hostname)
  if (
    addresses.length > 0 &&
    !addresses.some((address) => policy.isAddressAllowed(address, port))
  ) {
    return { isAllowed: false, error: 'address' }
  }
  return { isAllowed: true, url }
}

const LOOPBACK = ['127.0.0.1', '::1']
const METADATA_NAME = 'metadata.google.internal'

/**
 * Returns the addresses that are known without a DNS query, or an empty list if the host name must
 * be resolved.
 */
function literalAddresses(hostname: string): readonly string[] {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOOPBACK
  if (hostname === METADATA_NAME) return ['169.254.169.254']
  const literal = plainAddress(hostname.replace(/^\[|\]$/g, ''))
  return literal === null ? [] : [literal]
}

export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/**
 * Reports whether the address belongs to this machine. A channel with such an address could make
 * the gateway call itself endlessly.
 */
function isOwnAddress(address: string): boolean {
  if (isLoopbackAddress(address)) return true
  for (const addresses of Object.values(networkInterfaces())) {
    if (addresses?.some((own) => plainAddress(own.address) === address)) return true
  }
  return false
}

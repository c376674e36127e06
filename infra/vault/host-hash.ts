import type { Vault } from './port.ts'

const DIGITS = 16

/**
 * Returns the hash of a provider's host and port. Events contain this hash instead of the host. The
 * hash is keyed, because customers read events in receipts and could otherwise find the provider by
 * hashing known hosts.
 */
export const hostHashOf = (vault: Pick<Vault, 'keyedHash'>, host: string): string =>
  vault.keyedHash('provider-host', host).slice(0, DIGITS)

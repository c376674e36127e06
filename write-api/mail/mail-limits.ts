import type { Core } from '#infra/core.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { fault } from '#infra/http/faults.ts'
import { isFull, type PermitEnd, type RateClaim } from '#infra/limits/port.ts'

const RESEND_MS = 30_000
const HOUR_MS = 3_600_000
const OF_ADDRESS_MAX = 5
const OF_IP_MAX = 20

/**
 * Room for one more mail that a visitor asks for, or 429 with the wait: one in 30 s and five an
 * hour to an address, of each kind; twenty an hour from one IP. `release` gives it back to the
 * address, never to the IP.
 */
export async function mayMail(
  { limits, vault }: Pick<Core, 'limits' | 'vault'>,
  kind: 'code' | 'reset',
  address: string,
  ip: string,
): Promise<{ readonly release: (end: PermitEnd) => void }> {
  const to = `mail:${kind}:${vault.keyedHash('address', address)}`
  const rate = (key: string, max: number, periodMs: number): RateClaim => ({
    kind: 'rate',
    key,
    max,
    periodMs,
    isRefundable: true,
  })
  const ofIp = rate(`mail:ip:${addressKey(vault, ip)}`, OF_IP_MAX, HOUR_MS)
  const outcome = await limits.enter('mail', [
    rate(`${to}:resend`, 1, RESEND_MS),
    rate(`${to}:hour`, OF_ADDRESS_MAX, HOUR_MS),
    // Of a mail that failed too: a wrong address costs the mail server as much as a right one.
    { ...ofIp, isRefundable: false },
  ])
  if (isFull(outcome)) throw fault('TooManyRequests', Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

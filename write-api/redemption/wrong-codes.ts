import type { Core } from '#infra/core.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { fault } from '#infra/http/faults.ts'
import { isFull, type Permit } from '#infra/limits/port.ts'

const OF_MINUTE_MAX = 10
/** Of one address, whoever asks: accounts cost a guesser nothing. */
const OF_ADDRESS_MAX = 30
const MINUTE_MS = 60_000
const OF_HOUR_MAX = 60
const HOUR_MS = 3_600_000

/**
 * A user has so many wrong codes a minute, and an hour: keys that an admin made up can be guessed.
 * Leave it refunded unless `CodeInvalid` is answered, which says of a code that was disabled or
 * used no more than of one that never was. Throws when there were too many.
 */
export async function enterGuess(
  { limits, vault }: Core,
  userId: number,
  ip: string,
): Promise<Permit> {
  const owner = `user:${userId}`
  const claim = (of: string, max: number, periodMs: number, who: number | string = userId) =>
    ({
      kind: 'rate',
      key: `wrong-code-${of}:${who}`,
      max,
      periodMs,
      isRefundable: true,
    }) as const
  const outcome = await limits.enter(owner, [
    claim('minute', OF_MINUTE_MAX, MINUTE_MS),
    claim('hour', OF_HOUR_MAX, HOUR_MS),
    claim('address', OF_ADDRESS_MAX, MINUTE_MS, addressKey(vault, ip)),
  ])
  if (isFull(outcome)) throw fault('TooManyRequests', Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

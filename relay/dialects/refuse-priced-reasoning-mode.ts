import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import type { Member } from './scan-request-object.ts'

/** The JSON values of `reasoning.mode` that do not change the bill. */
const STANDARD = new Set(['"standard"', 'null'])
const LENGTH_MAX = 16

/**
 * Returns an error if a request has a `mode` in `reasoning` other than the standard mode. Returns
 * null for the standard mode and for a request without a `mode`. The mode `pro` runs a model
 * several times, or lets another gateway choose a model with another price. Neither the hold (the
 * reserved quota) nor the price covers such a call.
 */
export function errorInReasoningMode(bytes: Buffer, mode: Member | undefined): RelayError | null {
  if (mode === undefined) return null
  const { valueStart, valueEnd } = mode
  const isShort = valueEnd - valueStart <= LENGTH_MAX
  if (isShort && STANDARD.has(bytes.toString('latin1', valueStart, valueEnd))) return null
  return relayError('parameter_not_supported', { param: 'reasoning.mode' })
}

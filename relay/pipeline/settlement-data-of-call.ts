import type { WireFormat } from '../dialects/wire-format.ts'
import { billedChannelOf } from '../views/channel-view.ts'
import type { Metered } from './billed-usage.ts'
import type { Bill } from './call-ledger.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { changesOf, UNCHANGED } from './recorded-request-changes.ts'
import type { RunningCall } from './running-call.ts'

type BilledCall = {
  /** The caller's format. */
  readonly format: WireFormat
  readonly call: Pick<RunningCall, 'served' | 'revokedBy'>
}

/**
 * Returns the bill of a call that was sent as `candidate`. Most bills have none of the optional
 * members, so no objects are created for absent members.
 */
export function billOf(
  { format, call: { served, revokedBy } }: BilledCall,
  candidate: Candidate,
  metered: Metered,
  ending: Pick<Bill, 'end' | 'limits' | 'calls'>,
): Bill {
  const { upstreamModel, channel } = candidate
  const billed = { ...billedChannelOf(channel), ...metered, upstreamModel }
  const changes = changesOf(format, candidate)
  const endReason = ending.end === 'done' ? undefined : revokedBy?.code
  if (served === null && endReason === undefined && changes === UNCHANGED) {
    return { ...billed, ...ending }
  }
  const { end, ...others } = ending
  const ofService = served === null ? {} : { served }
  const reason = endReason === undefined ? {} : { endReason }
  return { ...billed, ...ofService, end, ...reason, ...changes, ...others }
}

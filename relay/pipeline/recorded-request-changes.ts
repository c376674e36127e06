import type { SentRequest } from '#domain/accounts/call-event-members.ts'
import type { RequestChanges } from '#domain/accounts/events.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import { type BilledChannel, billedChannelOf } from '../views/channel-view.ts'
import { visibleNames } from './http-exchange.ts'
import type { OutputHoldTracker } from './output-hold-tracker.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

/** The maximum number of dropped members, and of losses, that are recorded with a call. */
const NAMES_RECORDED_MAX = 20

/**
 * Returns the changes to the caller's request in the last attempt of the call, and the parts of the
 * answer that the caller did not get. `candidate` is null if no attempt was made. `isReleased` is
 * true for a call that ends without an answer. Such a call can't have lost parts of an answer.
 */
export function changesOf(
  caller: WireFormat,
  candidate: Candidate | null,
  isReleased = false,
): RequestChanges {
  const formats = formatsOf(caller, candidate)
  // Most requests are sent unchanged.
  if (candidate === null) return formats
  const allLosses = isReleased ? candidate.losses : lossesOf(candidate)
  if (candidate.dropped.length + allLosses.length === 0) return formats
  return { ...formats, ...recordedOmissions(candidate.dropped, allLosses) }
}

/** Returns dropped members and losses as they are recorded. An empty list is omitted. */
export function recordedOmissions(
  allDropped: readonly string[],
  allLosses: readonly string[],
): Pick<RequestChanges, 'dropped' | 'losses'> {
  const dropped = visibleNames(allDropped, NAMES_RECORDED_MAX)
  const losses = visibleNames(withoutIndexes(allLosses), NAMES_RECORDED_MAX)
  return {
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(losses.length === 0 ? {} : { losses }),
  }
}

/**
 * Returns the losses of a call. Losses of the answer come first, because they are few and the list
 * is cut.
 */
export function lossesOf({ losses, conversion }: Candidate): readonly string[] {
  const ofAnswer = conversion?.lossesInAnswer.list ?? []
  return ofAnswer.length === 0 ? losses : [...ofAnswer, ...losses]
}

/** Returns the losses without indexes, each once, so that events stay small. */
const withoutIndexes = (losses: readonly string[]): readonly string[] => [
  ...new Set(losses.map((loss) => loss.replaceAll(/\[\d+\]/g, '[]'))),
]

/**
 * The empty record of a chat that is sent without a conversion and loses nothing. Most calls are
 * such chats.
 */
export const UNCHANGED: RequestChanges = Object.freeze({})

/** Returns the formats of the call as they are recorded: see `CallFormats`. */
export function formatsOf(
  { name: caller }: WireFormat,
  candidate: Candidate | null,
): Pick<RequestChanges, 'formats'> {
  const provider = candidate?.request.format.name ?? caller
  if (caller !== provider) return { formats: [caller, provider] }
  return caller === 'chat' ? UNCHANGED : { formats: [caller] }
}

/**
 * Returns what the progress of a call records about its current attempt. `candidate` is null before
 * the first attempt.
 */
export function attemptInProgress(
  caller: WireFormat,
  candidate: Candidate | null,
  outputHold: OutputHoldTracker,
): BilledChannel & Pick<SentRequest, 'formats' | 'calls'> {
  const formats = formatsOf(caller, candidate)
  if (candidate === null) return { channelId: 0, ...formats }
  const calls = outputHold.callsOf(candidate.request)
  return { ...billedChannelOf(candidate.channel), ...formats, calls }
}

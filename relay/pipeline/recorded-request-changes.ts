import type { RequestChanges } from '#domain/accounts/events.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import { visibleNames } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

/** The maximum number of dropped members, and of losses, that are recorded with a call. */
const NAMES_RECORDED_MAX = 20

/**
 * Returns how the gateway changed the caller's request for the last attempt of the call, and what
 * the caller did not get of the answer. `candidate` is null if no attempt was made. `isReleased`
 * is true for a call that ends without an answer, of which nothing can be lost.
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
  const dropped = visibleNames(candidate.dropped, NAMES_RECORDED_MAX)
  const losses = visibleNames(withoutIndexes(allLosses), NAMES_RECORDED_MAX)
  return {
    ...formats,
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(losses.length === 0 ? {} : { losses }),
  }
}

/**
 * Returns what a call has lost in its conversion. Losses of the answer, which are few, come first.
 */
export function lossesOf({ losses, conversion }: Candidate): readonly string[] {
  const ofAnswer = conversion?.lossesInAnswer.list ?? []
  return ofAnswer.length === 0 ? losses : [...ofAnswer, ...losses]
}

/** Returns the losses without indexes, each once, so that events stay small. */
const withoutIndexes = (losses: readonly string[]): readonly string[] => [
  ...new Set(losses.map((loss) => loss.replaceAll(/\[\d+\]/g, '[]'))),
]

/** The changes of a chat that is sent in its own format, as most calls are. */
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

import { codedError } from '../shared/coded-error.ts'
import type { ChannelError, PauseSubmissions, ResumeSubmissions } from './commands.ts'
import type { ChannelEvent } from './events.ts'
import { type ChannelRecord, unknownChannelError } from './state.ts'

/**
 * The maximum duration of a pause in milliseconds. A pause ends after this time, even if the
 * process that started it has died.
 */
const PAUSE_MS = 60_000

/**
 * The time in milliseconds within which a deletion or a removal of keys must use its pause. This
 * time is shorter than the pause, because the clocks of processes differ.
 */
const USE_WITHIN_MS = 30_000

type Outcome = readonly ChannelEvent[] | ChannelError
type Channels = ReadonlyMap<number, ChannelRecord>

/** Reports whether submissions of tasks and batches are paused at `now` (Unix milliseconds). */
export const areSubmissionsPaused = ({ pause }: ChannelRecord, now: number): boolean =>
  pause !== undefined && now < pause.pausedAt + PAUSE_MS

export function pauseSubmissions(
  { channelIds: given, pause, now }: PauseSubmissions,
  channels: Channels,
): Outcome {
  const unknown = unknownChannelError(given, channels)
  if (unknown !== null) return given.length > 1 ? unknown : codedError('ChannelUnknown')
  const channelIds = [...new Set(given)]
  const records = channelIds.flatMap((id) => channels.get(id) ?? [])
  if (records.some((record) => areSubmissionsPaused(record, now))) {
    return codedError('SubmissionsPaused')
  }
  if (channelIds.length === 0) return []
  const data = { channelIds, pause, pausedAt: now }
  return [{ type: 'ChannelSubmissionsPaused', v: 1, data }]
}

/**
 * Ends a pause of channels. Deleted channels are left out. If `neededAt` is null, channels whose
 * pause has already ended are left out too. If `neededAt` is not null, the command is refused
 * because of such a channel.
 */
export function resumeSubmissions(
  { channelIds: given, pause, neededAt }: ResumeSubmissions,
  channels: Channels,
): Outcome {
  const records = [...new Set(given)].flatMap((id) => channels.get(id) ?? [])
  const own = records.filter((record) => record.pause?.pause === pause)
  if (neededAt !== null) {
    const inForce = own.filter((one) => neededAt < (one.pause?.pausedAt ?? 0) + USE_WITHIN_MS)
    if (inForce.length < records.length) return codedError('SubmissionsNotPaused')
  }
  const channelIds = own.map(({ channelId }) => channelId)
  if (channelIds.length === 0) return []
  return [{ type: 'ChannelSubmissionsResumed', v: 1, data: { channelIds, pause } }]
}

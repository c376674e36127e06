import { isExpired } from '#domain/channels/change-status-and-delete.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { areSubmissionsPaused } from '#domain/channels/pause-submissions.ts'
import type { ChannelRecord } from '#domain/channels/state.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { RelayChannel, RelayKey } from './channel-view.ts'

/** The channel and the key with which a task, a batch or a file was sent to a provider. */
export type SubmittedWith = { readonly channelId: number; readonly keyRef: string }

type Channels = { readonly find: (channelId: number) => RelayChannel | undefined }

/** The maximum number of keys that are tried in place of a replaced key. */
const KEYS_MAX = 10

/**
 * Returns the keys to try for a request about a task, a batch or a file that was submitted earlier.
 * If the channel still has the key of the submission, returns only this key. If that key was
 * replaced, returns up to `KEYS_MAX` of the channel's current keys, the enabled keys first. A key
 * is usually replaced by a key of the same account, and the new key can access the same objects.
 * Returns no key if the channel was deleted.
 */
export function keysOfSubmitted(
  channels: Channels,
  { channelId, keyRef }: SubmittedWith,
): readonly RelayKey[] {
  const { keys = [], allKeys = [] } = channels.find(channelId) ?? {}
  const own = allKeys.find((key) => key.keyRef === keyRef)
  if (own !== undefined) return [own]
  return [...keys, ...allKeys.filter((key) => !keys.includes(key))].slice(0, KEYS_MAX)
}

type SubmissionDeps = {
  readonly actors: Pick<StreamActors, 'ask'>
  readonly now: () => number
}

/**
 * Asks the event store whether a task or a batch may be sent to a channel with a key. This function
 * must be called after the event with the submission's channel is durable. The deletion of a
 * channel or a key first stops new submissions and then counts the submissions that were made. Each
 * submission is therefore either counted or not sent.
 */
export const mayBeSentTo = (
  { actors, now }: SubmissionDeps,
  { channelId, keyRef }: SubmittedWith,
): Promise<boolean> =>
  actors.ask(channelsDecider, CHANNELS_STREAM, ({ channels }) => {
    const channel = channels.get(channelId)
    return isOpenForSubmissions(channel, now()) && channel?.keyRefs.includes(keyRef) === true
  })

/**
 * Reports whether a channel accepts submissions. This check precedes the choice of a key, and the
 * check `mayBeSentTo` follows that choice.
 */
export const takesSubmissions = (
  { actors, now }: SubmissionDeps,
  channelId: number,
): Promise<boolean> =>
  actors.ask(channelsDecider, CHANNELS_STREAM, ({ channels }) =>
    isOpenForSubmissions(channels.get(channelId), now()),
  )

const isOpenForSubmissions = (channel: ChannelRecord | undefined, at: number): boolean =>
  channel?.status === 'enabled' &&
  !isExpired(channel.terms.expiredTime, at / 1_000) &&
  !areSubmissionsPaused(channel, at)

type DeletionDeps = {
  readonly actors: Pick<StreamActors, 'ask'>
  readonly views: { readonly channels: Channels }
}

/**
 * Reports whether a channel was deleted. If the view of this process lacks the channel, the event
 * store decides, because another process may have just created the channel.
 */
export async function isChannelDeleted(
  { actors, views }: DeletionDeps,
  channelId: number,
): Promise<boolean> {
  if (views.channels.find(channelId) !== undefined) return false
  return actors.ask(
    channelsDecider,
    CHANNELS_STREAM,
    ({ channels, highestId }) => channelId <= highestId && !channels.has(channelId),
  )
}

/**
 * The HTTP statuses with which a provider may answer if the requested object belongs to another
 * provider account than the key.
 */
const OTHER_ACCOUNT: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 422])

/**
 * Reports whether a request that failed with this status may succeed with a key of another account.
 */
export const mayBeOfOtherAccount = (status: number | null): boolean =>
  status !== null && OTHER_ACCOUNT.has(status)

/**
 * Sends a request with one key after another. Tries the next key only if the answer may mean that
 * the requested object belongs to another account. Returns the last answer, or null if `keys` is
 * empty.
 */
export async function sendWithKeys(
  keys: readonly RelayKey[],
  send: (key: RelayKey) => Promise<AttemptEnd>,
): Promise<AttemptEnd | null> {
  let end: AttemptEnd | null = null
  for (const key of keys) {
    end = await send(key)
    if (end.kind !== 'failed' || !mayBeOfOtherAccount(end.status)) return end
  }
  return end
}

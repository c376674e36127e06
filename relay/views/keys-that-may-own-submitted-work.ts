import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import type { AttemptEnd } from '../pipeline/upstream-attempt.ts'
import type { RelayChannel, RelayKey } from './channel-view.ts'

/** The channel and the key with which a task, a batch or a file was sent to a provider. */
export type SubmittedWith = { readonly channelId: number; readonly keyRef: string }

type Channels = { readonly find: (channelId: number) => RelayChannel | undefined }

/** The maximum number of keys that are tried instead of a replaced one. */
const KEYS_MAX = 10

/**
 * Returns the keys for requests about something that was submitted before. This is the key that
 * submitted it. If that key was replaced, it is the channel's current keys, the enabled ones first:
 * usually a key is replaced by another one of the same account, which has the same objects. Returns
 * no key if the channel was deleted.
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

/**
 * Reports whether a task or a batch may be sent to a channel, by the event store. This is asked
 * after the submission is durable: whoever deletes the channel disables it first, and then sees
 * each submission that was sent nevertheless.
 */
export const mayBeSentTo = (
  { actors }: { readonly actors: Pick<StreamActors, 'ask'> },
  channelId: number,
): Promise<boolean> =>
  actors.ask(
    channelsDecider,
    CHANNELS_STREAM,
    ({ channels }) => channels.get(channelId)?.status === 'enabled',
  )

type DeletionDeps = {
  readonly actors: Pick<StreamActors, 'ask'>
  readonly views: { readonly channels: Channels }
}

/**
 * Reports whether a channel was deleted. The event store decides, because the view of this process
 * may lack a channel that another process has just created.
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

/** Answers with which a provider says that an object is not one of the key's account. */
const OTHER_ACCOUNT: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 422])

/** Reports whether another key may have what this status denies. */
export const mayBeOfOtherAccount = (status: number | null): boolean =>
  status !== null && OTHER_ACCOUNT.has(status)

/**
 * Sends a request with one key after the other, until the provider does not say that the object
 * belongs to another account. Returns the last answer, or null if there is no key.
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

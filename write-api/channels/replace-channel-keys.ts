import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { UpdateChannel } from '#write-api/contract/channels.ts'
import type { Deps } from '../action.ts'
import { channelError } from './channel-errors.ts'
import { readKeysByRef, storeChannelKeys } from './channel-keys-in-vault.ts'
import { keysToAdd, parseKeys } from './create-channel.ts'
import { countWorkOf, isAnyIn } from './work-in-flight.ts'

/** The keys of a request, compared with those that the channel has. */
export type EnteredKeys = {
  readonly keys: readonly string[]
  /** The number of keys that were left out because they are repeated. */
  readonly repeated: number
  readonly isAppended: boolean
  /** The references of the keys that the channel has now, in order. */
  readonly currentRefs: readonly string[]
  /** The references of entered keys that the channel has already. */
  readonly knownRefs: ReadonlyMap<string, string>
}

/**
 * Reads the keys in a request. In the mode `append`, keys that the channel already has are left
 * out.
 */
export async function readEnteredKeys(
  { core: { actors, vault } }: Deps,
  { id, key, key_mode }: UpdateChannel,
): Promise<EnteredKeys> {
  const entered = parseKeys(key ?? '')
  const isAppended = key_mode === 'append'
  const currentRefs = await actors.ask(channelsDecider, CHANNELS_STREAM, ({ channels }) => [
    ...(channels.get(id)?.keyRefs ?? []),
  ])
  const nothing = { isAppended, currentRefs, knownRefs: new Map<string, string>() }
  if (entered.keys.length === 0) return { ...entered, ...nothing }
  const keysByRef = await readKeysByRef(vault, id, currentRefs)
  const knownRefs = new Map([...keysByRef].map(([ref, value]) => [value, ref] as const))
  const fit = isAppended ? keysToAdd(entered, new Set(knownRefs.keys())) : entered
  return { ...fit, ...nothing, knownRefs }
}

/**
 * Refuses to remove keys that unfinished tasks or batches were submitted with, because the other
 * keys may belong to other accounts, which do not know this work. The only key of a channel may be
 * replaced at the same address: this is how a key is renewed.
 */
export async function checkRemovedKeys(
  deps: Deps,
  { id, force = false }: UpdateChannel,
  { keys, isAppended, currentRefs, knownRefs }: EnteredKeys,
  isSameTarget: boolean,
): Promise<void> {
  if (force || isAppended || keys.length === 0) return
  if (isSameTarget && currentRefs.length < 2) return
  const keptRefs = new Set(isSameTarget ? keys.map((key) => knownRefs.get(key)) : [])
  const removedRefs = currentRefs.filter((ref) => !keptRefs.has(ref))
  if (removedRefs.length === 0) return
  const work = await countWorkOf(deps, [id], removedRefs)
  if (isAnyIn(work)) throw channelError('WorkInFlight', work)
}

/** The references of the entered keys in order, and which of them are new or were there before. */
export type StoredKeys = {
  readonly refs: readonly string[]
  readonly addedRefs: readonly string[]
  readonly keptRefs: readonly string[]
}

/**
 * Stores the entered keys. A key that the channel already has keeps its reference, by which
 * unfinished work and files find it. At a new target every key is stored again, because a stored
 * key is only sent to the target for which it was entered.
 */
export async function storeEnteredKeys(
  { core: { vault } }: Deps,
  channelId: number,
  { keys, knownRefs }: EnteredKeys,
  isSameTarget: boolean,
): Promise<StoredKeys> {
  const known = isSameTarget ? knownRefs : new Map<string, string>()
  const added = keys.filter((key) => !known.has(key))
  const addedRefs = await storeChannelKeys(vault, channelId, added)
  const refOf = new Map([...known, ...added.map((key, at) => [key, addedRefs[at] ?? ''] as const)])
  const refs = keys.map((key) => refOf.get(key) ?? '')
  return { refs, addedRefs, keptRefs: refs.filter((ref) => !addedRefs.includes(ref)) }
}

import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { UpdateChannel } from '#write-api/contract/channels.ts'
import type { Deps } from '../action.ts'
import { readKeysByRef, storeChannelKeys } from './channel-keys-in-vault.ts'
import { keysToAdd, parseKeys } from './parse-channel-keys.ts'

/** The keys in a request, compared with the keys that the channel has. */
export type EnteredKeys = {
  readonly keys: readonly string[]
  /**
   * The number of keys that were left out because the request repeats them or the channel already
   * has them.
   */
  readonly repeated: number
  readonly isAppended: boolean
  /** The references of the keys that the channel has now, in order. */
  readonly currentRefs: readonly string[]
  /** The references of the keys that the channel has now, by key. Empty if no key was entered. */
  readonly knownRefs: ReadonlyMap<string, string>
}

/**
 * Reads the keys in a request. If keys are appended, keys that the channel already has are left
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
  const current = { isAppended, currentRefs, knownRefs: new Map<string, string>() }
  if (entered.keys.length === 0) return { ...entered, ...current }
  const keysByRef = await readKeysByRef(vault, id, currentRefs)
  const knownRefs = new Map([...keysByRef].map(([ref, value]) => [value, ref] as const))
  const newOrAllKeys = isAppended ? keysToAdd(entered, new Set(knownRefs.keys())) : entered
  return { ...newOrAllKeys, ...current, knownRefs }
}

/**
 * Returns the references of the keys that a change keeps, if unfinished tasks or batches may need
 * the keys that the change removes. Returns null if no check is necessary: the change is forced,
 * removes no key, or replaces the only key at the same target, which is how a key is renewed. The
 * target is the provider's type, address and proxy. A task or batch needs the key with which it was
 * sent, because other keys may belong to other accounts at the provider. If this key was renewed
 * earlier, the relay tries the current keys, so any of them may be needed. At a new target, no key
 * is kept.
 */
export function keptRefsOf(
  { force = false }: UpdateChannel,
  { keys, isAppended, currentRefs, knownRefs }: EnteredKeys,
  isSameTarget: boolean,
): readonly string[] | null {
  if (force || isAppended || keys.length === 0) return null
  if (isSameTarget && currentRefs.length < 2) return null
  const entered = new Set(isSameTarget ? keys.map((key) => knownRefs.get(key)) : [])
  const kept = currentRefs.filter((ref) => entered.has(ref))
  return kept.length === currentRefs.length ? null : kept
}

/** Reports whether a change replaces the only key of a channel by another key. */
export const isRenewal = ({ keys, isAppended, currentRefs, knownRefs }: EnteredKeys): boolean =>
  !isAppended &&
  currentRefs.length === 1 &&
  keys.length > 0 &&
  !keys.some((key) => knownRefs.has(key))

/**
 * `refs` are the references of all entered keys in order. `addedRefs` are the references of new
 * keys. `keptRefs` are the references of keys that the channel already had.
 */
export type StoredKeys = {
  readonly refs: readonly string[]
  readonly addedRefs: readonly string[]
  readonly keptRefs: readonly string[]
}

/**
 * Stores the entered keys. A key that the channel already has keeps its reference, because
 * unfinished work and files contain this reference. If the target of the channel (its type, address
 * or proxy) changes, every key is stored again, because a stored key is only sent to the target for
 * which it was entered.
 */
export async function storeEnteredKeys(
  vault: Vault,
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

import type { Substitutes } from '#domain/channels/commands.ts'
import type { ChannelEvent } from '#domain/channels/events.ts'
import {
  type ChannelRecord,
  type ChannelsState,
  evolveChannels,
  idsOf,
  initialChannels,
} from '#domain/channels/state.ts'
import { proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import type { ProviderCost } from '#domain/pricing/price-snapshot.ts'
import {
  channelsIn,
  type Offer,
  type Offers,
  offerOf,
  offersOf,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { hostHashOf } from '#infra/vault/host-hash.ts'
import type { Vault } from '#infra/vault/port.ts'
import { type FormatName, isDirectFormat } from '#relay/dialects/wire-format.ts'
import { profileOf, taskProfileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import type { Profile } from '#relay/providers/profiles/provider-profile.ts'
import {
  confidentialOf,
  hostOfChannel,
  type ProviderTarget,
  providerTarget,
} from '#relay/providers/profiles/provider-target.ts'
import { hasUnexpiredChannel, isUnexpired } from './channel-expiry.ts'
import { type ChannelRules, channelRules, upstreamModelOf } from './parse-channel-rules.ts'

/** A decrypted key, with the address and headers of calls that use it. */
export type RelayKey = { readonly keyRef: string; readonly target: ProviderTarget }

/** A channel with its usable keys. A channel without keys can't be called. */
export type RelayChannel = ChannelRecord & {
  readonly isEnabled: boolean
  /** The usable keys, in the order of the channel's key list. Disabled keys are left out. */
  readonly keys: readonly RelayKey[]
  /** The target of the first key, or null if the channel can't be called. */
  readonly target: ProviderTarget | null
  readonly rules: ChannelRules
  readonly allKeys: readonly RelayKey[]
  /** The URL of the channel's proxy with its credentials, or null for a direct connection. */
  readonly proxy: string | null
}

/** Returns the channel's texts that only admins may read. */
export const confidentialTo = ({ allKeys, terms }: RelayChannel): string[] => [
  ...new Set([...allKeys.flatMap(({ target }) => confidentialOf(target)), terms.organization]),
]

/**
 * Returns the HTTP status that callers get for an outcome of the channel, by its mapping of status
 * codes. Returns null if the mapping does not contain the provider's status.
 */
export const mappedStatusOf = (
  { rules }: Pick<RelayChannel, 'rules'>,
  { status }: { readonly status: number | null },
): number | null => rules.statuses.get(status ?? 0) ?? null

/** The channel of a call, as recorded in the call's events. */
export type BilledChannel = Pick<ProviderCost, 'costRatio'> & { readonly channelId: number }

/** Returns the channel's id and cost ratio, as recorded in call events. */
export const billedChannelOf = ({
  channelId,
  terms: { costRatio },
}: ChannelRecord): BilledChannel =>
  costRatio === undefined ? { channelId } : { channelId, costRatio }

const NONE: Offer<RelayChannel> = []

/** The kind of a request: a call in one format, or a task of one kind. */
export type RequestKind = FormatName | TaskKind
/**
 * The kind of the requests for which channels are selected. `call` matches channels with an
 * endpoint for the model in at least one format that can be converted. `any` matches every channel
 * that accepts calls, whatever its formats.
 */
export type OfferKind = RequestKind | 'call' | 'any'

/**
 * Returns the kind of tasks (drawing, music or video) that the channel accepts. Null if it accepts
 * calls.
 */
const taskKindOf = ({ terms }: Pick<ChannelRecord, 'terms'>): TaskKind | null =>
  taskProfileOf(terms.type)?.tasks?.kind ?? null

/**
 * Reports whether the channel serves requests of this kind for a model. For a format, only
 * endpoints of this format count. See `OfferKind` for `call` and `any`.
 */
export function serves(
  { terms, rules, target }: RelayChannel,
  kind: OfferKind,
  model: string,
): boolean {
  if (kind === 'video') return servesVideos({ terms, rules }, model)
  if (profileOf(terms.type) === undefined) return taskKindOf({ terms }) === kind
  if (kind === 'any') return true
  const name = upstreamModelOf(terms, rules, model)
  const isOfKind = (format: FormatName) =>
    kind === 'call' ? !isDirectFormat(format) : format === kind
  return (target?.endpoints ?? []).some(
    ({ format, models }) => isOfKind(format) && models?.test(name) !== false,
  )
}

/**
 * Reports whether a channel lists the model. `model` is the name that callers use, with the
 * channel's prefix.
 */
const hasInList = ({ modelPrefix, models }: RelayChannel['terms'], model: string): boolean =>
  models.some((name) => modelPrefix + name === model)

/**
 * Returns the vendor whose API serves the channel's videos, or null if the channel serves no
 * videos.
 */
export const videoVendorOf = ({
  terms: { type },
}: {
  readonly terms: Pick<RelayChannel['terms'], 'type'>
}): Profile['videos'] | null => (profileOf(type) ?? taskProfileOf(type))?.videos ?? null

/** The fields of a channel that decide which of its models generate videos. */
export type VideoModels = {
  readonly terms: Pick<RelayChannel['terms'], 'type' | 'modelPrefix'>
  readonly rules: Pick<ChannelRules, 'modelNames'>
}

/** Reports whether the model generates videos at the channel. */
export function servesVideos({ terms, rules }: VideoModels, model: string): boolean {
  const videos = videoVendorOf({ terms })
  return videos?.models?.test(upstreamModelOf(terms, rules, model)) ?? videos !== null
}

/** Reports whether the channel accepts calls, and not tasks. */
export const acceptsCalls = ({ terms }: Pick<ChannelRecord, 'terms'>): boolean =>
  taskProfileOf(terms.type) === undefined

type Secrets = Pick<Vault, 'getSecrets' | 'keyedHash'>
const NO_SECRETS: ReadonlyMap<string, string> = new Map()

/**
 * Stores the channels by id, and by group and model for selection. Keys are decrypted only when a
 * channel is loaded or when its terms or keys change.
 */
export class ChannelView {
  private roster: ChannelsState = initialChannels()
  private channels = new Map<number, RelayChannel>()
  private offers = new Map<OfferKind, Offers<RelayChannel>>()
  private names: ReadonlySet<string> | null = null
  private readonly vault: Secrets
  private readonly policy: OutboundPolicy

  constructor(vault: Secrets, policy: OutboundPolicy) {
    this.vault = vault
    this.policy = policy
  }

  find(channelId: number): RelayChannel | undefined {
    return this.channels.get(channelId)
  }

  /** Returns the enabled channels that offer the model to the group. */
  offering(group: string, model: string, kind: OfferKind): Offer<RelayChannel> {
    return this.index(kind).get(group)?.get(model) ?? NONE
  }

  /**
   * Reports whether any channel that accepts calls has the model. Channels of all groups count,
   * even if they are disabled.
   */
  isKnown(model: string): boolean {
    this.names ??= new Set(
      [...this.channels.values()]
        .filter(acceptsCalls)
        .flatMap(({ terms: { modelPrefix, models } }) => models.map((name) => modelPrefix + name)),
    )
    return this.names.has(model)
  }

  /**
   * Reports whether any channel, for calls or for tasks, has the model. The search through all
   * channels is slow, so this method is used only to choose between errors.
   */
  hasModel(model: string): boolean {
    return [...this.channels.values()].some(({ terms }) => hasInList(terms, model))
  }

  /**
   * Returns the models that the group's calls in any format and the group's requests for videos may
   * name.
   */
  modelsOf(group: string): readonly string[] {
    const kinds = ['any', 'video'] as const
    return [...new Set(kinds.flatMap((kind) => [...(this.index(kind).get(group)?.keys() ?? [])]))]
  }

  /**
   * Returns the enabled channels that offer the model to the group's calls in this format. Channels
   * of another format are returned only if there are none of this format that have not expired at
   * `nowMs`, because a conversion may lose parts of a request. For a format that is never
   * converted, channels of another format are never returned.
   */
  offeringCalls(
    group: string,
    model: string,
    format: FormatName,
    nowMs: number,
  ): Offer<RelayChannel> {
    const own = this.offering(group, model, format)
    if (hasUnexpiredChannel(own, nowMs) || isDirectFormat(format)) return own
    const all = this.offering(group, model, 'call')
    if (own.length === 0) return all
    // Without its expired channels, the offer tells that each call must be converted.
    const others = channelsIn(all).filter(({ terms }) => isUnexpired(terms, nowMs))
    return others.length === 0 ? own : offerOf(others)
  }

  /**
   * Reports whether a channel that can't be used now, for example because it was disabled
   * automatically, serves the model in the group. Like `hasModel`, this method is used only to
   * choose between errors.
   */
  mayOfferLater(group: string, model: string, kind: OfferKind): boolean {
    return [...this.channels.values()].some((channel) => {
      const { isEnabled, target, terms } = channel
      const isUsable = isEnabled && target !== null
      if (isUsable || !terms.groups.includes(group)) return false
      // It is unknown what a channel without a usable key serves, so it may serve any model in its
      // list.
      return hasInList(terms, model) && (target === null || serves(channel, kind, model))
    })
  }

  /**
   * Returns the ids of the other unexpired channels that serve the models of this channel. The
   * result has one list for each group and model, without duplicates. If no other channel serves
   * one of the models, this channel must stay enabled, and the result contains only an empty list.
   * The search stops at the first such model, because every rejected call of the channel repeats
   * the search.
   */
  substitutesOf({ channelId, terms }: RelayChannel, nowMs: number): Substitutes {
    const kind = taskKindOf({ terms }) ?? 'any'
    const lists = new Map<string, readonly number[]>()
    for (const group of terms.groups) {
      for (const model of terms.models) {
        const ids = unexpiredIn(this.offering(group, terms.modelPrefix + model, kind), nowMs)
        const others = ids.filter((id) => id !== channelId)
        if (others.length === 0) return [[]]
        lists.set(others.join(), others)
      }
    }
    return [...lists.values()]
  }

  async putAll(rows: readonly ChannelRecord[]): Promise<void> {
    for (const row of rows) this.roster.channels.set(row.channelId, row)
    await this.update(rows.map(({ channelId }) => channelId))
  }

  async apply(event: ChannelEvent): Promise<void> {
    this.roster = evolveChannels(this.roster, event)
    await this.update(idsOf(event))
  }

  /** Takes over the state of another view. The other view must not be used afterwards. */
  adopt(other: ChannelView): void {
    this.roster = other.roster
    this.channels = other.channels
    this.offers = new Map()
    this.names = null
  }

  /** Rebuilds the channels with these ids after a change of their records. */
  private async update(channelIds: readonly number[]): Promise<void> {
    const changed = channelIds.flatMap((id) => this.roster.channels.get(id) ?? [])
    const isReady = (channel: ChannelRecord) => this.reusable(channel) !== null
    const secrets = await this.secretsOf(changed.filter((channel) => !isReady(channel)))
    for (const id of channelIds) {
      const channel = this.roster.channels.get(id)
      if (channel === undefined) this.channels.delete(id)
      else this.channels.set(id, this.withTargets(channel, secrets))
    }
    this.offers = new Map()
    this.names = null
  }

  private withTargets(channel: ChannelRecord, secrets: ReadonlyMap<string, string>): RelayChannel {
    const existing = this.reusable(channel)
    const proxy = existing === null ? proxyOf(channel, secrets) : existing.proxy
    const allKeys = existing?.allKeys ?? this.callableKeys(channel, secrets, proxy)
    const keys = allKeys.filter(({ keyRef }) => !channel.setAside.includes(keyRef))
    return {
      ...channel,
      allKeys,
      proxy,
      keys,
      isEnabled: channel.status === 'enabled',
      target: keys[0]?.target ?? null,
      rules: existing?.rules ?? channelRules(channel.terms),
    }
  }

  /**
   * Returns the usable keys with their targets. Each target gets the hash of its host, so that no
   * call needs to compute the hash.
   */
  private callableKeys(
    { terms, keyRefs }: ChannelRecord,
    secrets: ReadonlyMap<string, string>,
    proxy: string | null,
  ): readonly RelayKey[] {
    const host = hostOfChannel(terms)
    const ofHost = host === null ? {} : { hostHash: hostHashOf(this.vault, host) }
    return keyRefs.flatMap((keyRef) => {
      const key = secrets.get(keyRef)
      const target = key === undefined ? null : providerTarget(terms, key, this.policy, proxy)
      return target === null ? [] : [{ keyRef, target: { ...target, ...ofHost } }]
    })
  }

  /**
   * Returns the stored channel if its terms and keys are those of the record. Returns null if they
   * have changed, or if the channel is not stored.
   */
  private reusable({ channelId, terms, keyRefs }: ChannelRecord): RelayChannel | null {
    const existing = this.channels.get(channelId)
    return existing?.terms === terms && existing.keyRefs === keyRefs ? existing : null
  }

  private async secretsOf(channels: readonly ChannelRecord[]): Promise<Map<string, string>> {
    const own = (channelId: number, refs: readonly string[]) =>
      refs.map((ref) => ({ owner: `channel:${channelId}`, ref }))
    const keys = channels.flatMap(({ channelId, keyRefs }) => own(channelId, keyRefs))
    const proxies = channels.flatMap(({ channelId, terms: { proxyRef } }) =>
      own(channelId, proxyRef === undefined ? [] : [proxyRef]),
    )
    const found = await Promise.all([
      keys.length === 0 ? NO_SECRETS : this.vault.getSecrets('channel-key', keys),
      proxies.length === 0 ? NO_SECRETS : this.vault.getSecrets('channel-proxy', proxies),
    ])
    return new Map(found.flatMap((some) => [...some]))
  }

  private index(kind: OfferKind): Offers<RelayChannel> {
    const existing = this.offers.get(kind)
    if (existing !== undefined) return existing
    const usable = [...this.channels.values()].filter(
      ({ isEnabled, target }) => isEnabled && target !== null,
    )
    const offers = offersOf(usable, (channel, model) => serves(channel, kind, model))
    this.offers.set(kind, offers)
    return offers
  }
}

/** Lists the ids of the channels in the offer that have not expired. */
const unexpiredIn = (offer: Offer<RelayChannel>, nowMs: number): readonly number[] =>
  channelsIn(offer)
    .filter(({ terms }) => isUnexpired(terms, nowMs))
    .map(({ channelId }) => channelId)

/**
 * Returns the channel's proxy, or null if it has none. If the proxy's secret is missing, returns an
 * unusable proxy, so that the provider is not called directly by mistake.
 */
const proxyOf = ({ terms }: ChannelRecord, secrets: ReadonlyMap<string, string>): string | null =>
  terms.proxyRef === undefined ? proxyToUse(terms) : (secrets.get(terms.proxyRef) ?? '')

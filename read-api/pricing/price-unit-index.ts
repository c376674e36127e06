import {
  type PriceUnit,
  VIDEO_PRICE_UNITS,
  type VideoPricing,
} from '#domain/pricing/video-prices.ts'
import type { MappedModels } from '#projections/channels/query.ts'
import { isPricePerSecond } from '../contract/price-unit-by-model-name.ts'

/**
 * Returns the models with which a channel makes videos, each with the pricing of the videos. The
 * channel bills all other models per call.
 */
export type VideoPricingAt = (channel: {
  readonly type: number
  readonly models: readonly string[]
  readonly modelPrefix: string
  readonly modelMapping: string
}) => ReadonlyMap<string, VideoPricing>

/**
 * The data that the index keeps about a channel. The channel's mapping of model names is parsed
 * once and not kept.
 */
type IndexedChannel = Pick<MappedModels, 'type' | 'isEnabled' | 'expiredTime'> & {
  readonly models: readonly IndexedModel[]
  readonly groups: ReadonlySet<string>
  /** The models with which the channel makes videos. */
  readonly videos: ReadonlyMap<string, VideoPricing>
}

type IndexedModel = {
  readonly name: string
  readonly channels: Set<IndexedChannel>
  /**
   * The pricings by which `channels` bill videos of the model, each with the number of these
   * channels.
   */
  readonly pricings: Map<VideoPricing, number>
  /** The number of `channels` that make videos with the model. */
  videos: number
  /** The number of `channels` that bill the model by the second. */
  perSecond: number
}

/** The use of a model by the usable channels of a group: videos, other calls, or both. */
export type VideoUse = {
  /** The pricings of the channels that make videos with the model, without duplicates. */
  readonly pricings: Set<VideoPricing>
  /** True if a channel of the group serves calls of the model that do not make videos. */
  hasCalls: boolean
}

/** Selects the channels that can bill the calls of a caller. */
export type UnitFilter = {
  readonly groups: Iterable<string>
  /** The types of the channels. All types count by default. */
  readonly types?: readonly number[]
  /** The time in Unix seconds. Channels that have expired at this time do not count. */
  readonly now: number
}

/**
 * The units in which channels bill their models, by model. A changed channel replaces only the
 * entries of this channel, so the cost of a change does not depend on the number of channels.
 */
export class PriceUnitIndex {
  private readonly videoPricingAt: VideoPricingAt
  private readonly channels = new Map<number, IndexedChannel>()
  private readonly models = new Map<string, IndexedModel>()

  constructor(videoPricingAt: VideoPricingAt) {
    this.videoPricingAt = videoPricingAt
  }

  put(row: MappedModels): void {
    this.remove(row.id)
    const names = new Set(row.models.map((name) => row.modelPrefix + name))
    const channel: IndexedChannel = {
      ...{ type: row.type, isEnabled: row.isEnabled, expiredTime: row.expiredTime },
      models: [...names].map((name) => this.modelOf(name)),
      groups: new Set(row.groups),
      videos: this.videoPricingAt(row),
    }
    for (const model of channel.models) {
      model.channels.add(channel)
      count(model, channel, 1)
    }
    this.channels.set(row.id, channel)
  }

  remove(channelId: number): void {
    const channel = this.channels.get(channelId)
    if (channel === undefined) return
    this.channels.delete(channelId)
    for (const model of channel.models) {
      model.channels.delete(channel)
      count(model, channel, -1)
      if (model.channels.size === 0) this.models.delete(model.name)
    }
  }

  clear(): void {
    this.channels.clear()
    this.models.clear()
  }

  /**
   * Returns the units in which the usable channels of each group bill a model. If no channel bills
   * the model by the second, the result has no entries, and all groups bill the model per call. In
   * any other case, a group without an entry has no usable channel for the model.
   */
  unitsByGroup(model: string, filter: UnitFilter): ReadonlyMap<string, ReadonlySet<PriceUnit>> {
    const units = new Map<string, Set<PriceUnit>>()
    const { channels, perSecond } = this.models.get(model) ?? NOWHERE
    if (perSecond === 0) return units
    const unitsMax = perSecond === channels.size ? 1 : 2
    // `open` contains the groups whose units have not all been found. The search is limited to the
    // groups of the filter, because a channel can have thousands of groups that nobody can use.
    const open = new Set(filter.groups)
    for (const channel of channels) {
      if (open.size === 0) break
      if (!isUsable(channel, filter)) continue
      const unit = channel.videos.get(model)?.unit ?? 'call'
      for (const group of open) {
        if (!channel.groups.has(group)) continue
        const ofGroup = (units.get(group) ?? new Set()).add(unit)
        units.set(group, ofGroup)
        if (ofGroup.size === unitsMax) open.delete(group)
      }
    }
    return units
  }

  /**
   * Returns how the usable channels of each group use a model. If no channel makes videos with the
   * model, the result has no entries. In any other case, a group without an entry has no usable
   * channel for the model.
   */
  videoUseByGroup(model: string, filter: UnitFilter): ReadonlyMap<string, VideoUse> {
    const uses = new Map<string, VideoUse>()
    const { channels, pricings, videos } = this.models.get(model) ?? NOWHERE
    if (videos === 0) return uses
    const usesMax = pricings.size + (videos < channels.size ? 1 : 0)
    // `open` contains the groups whose uses have not all been found.
    const open = new Set(filter.groups)
    for (const channel of channels) {
      if (open.size === 0) break
      if (!isUsable(channel, filter)) continue
      const pricing = channel.videos.get(model)
      for (const group of open) {
        if (!channel.groups.has(group)) continue
        const use = uses.get(group) ?? { pricings: new Set(), hasCalls: false }
        uses.set(group, use)
        if (pricing === undefined) use.hasCalls = true
        else use.pricings.add(pricing)
        if (use.pricings.size + (use.hasCalls ? 1 : 0) === usesMax) open.delete(group)
      }
    }
    return uses
  }

  /**
   * Reports whether a usable channel of the groups in the filter has the model and a type for which
   * `matches` returns true.
   */
  hasChannel(model: string, filter: UnitFilter, matches: (type: number) => boolean): boolean {
    const groups = [...filter.groups]
    const { channels } = this.models.get(model) ?? NOWHERE
    for (const channel of channels) {
      if (!matches(channel.type) || !isUsable(channel, filter)) continue
      if (groups.some((group) => channel.groups.has(group))) return true
    }
    return false
  }

  /** True if at least one channel makes videos. Disabled and expired channels count too. */
  get hasVideos(): boolean {
    for (const { videos } of this.channels.values()) if (videos.size > 0) return true
    return false
  }

  /**
   * Returns the models that channels bill in another unit than the name of the model indicates,
   * with the units that the channels bill. Disabled channels count too.
   */
  unitsUnlikeNames(): Record<string, PriceUnit[]> {
    const unlike: [string, PriceUnit[]][] = []
    for (const { name, channels, perSecond } of this.models.values()) {
      const units: PriceUnit[] = []
      if (perSecond < channels.size) units.push('call')
      if (perSecond > 0) units.push('second')
      const ofName = isPricePerSecond({ entry_units: VIDEO_PRICE_UNITS }, name) ? 'second' : 'call'
      if (units.some((unit) => unit !== ofName)) unlike.push([name, units])
    }
    return Object.fromEntries(unlike)
  }

  /**
   * Returns the entry of a model. Creates the entry if there is none. All channels of a model refer
   * to the same entry, so the name is stored only once even if thousands of channels have the
   * model.
   */
  private modelOf(name: string): IndexedModel {
    const model = this.models.get(name) ?? { name, ...emptyEntry() }
    this.models.set(name, model)
    return model
  }
}

const emptyEntry = (): Omit<IndexedModel, 'name'> => ({
  channels: new Set(),
  pricings: new Map(),
  videos: 0,
  perSecond: 0,
})

const NOWHERE = emptyEntry()

/**
 * Counts a channel in the numbers of a model's entry. If `by` is -1, subtracts the channel from
 * these numbers.
 */
function count(model: IndexedModel, channel: IndexedChannel, by: 1 | -1): void {
  const pricing = channel.videos.get(model.name)
  if (pricing === undefined) return
  const alike = (model.pricings.get(pricing) ?? 0) + by
  if (alike === 0) model.pricings.delete(pricing)
  else model.pricings.set(pricing, alike)
  model.videos += by
  if (pricing.unit === 'second') model.perSecond += by
}

const isUsable = (
  { type, isEnabled, expiredTime }: IndexedChannel,
  { types, now }: UnitFilter,
): boolean =>
  isEnabled &&
  (types?.includes(type) ?? true) &&
  !(expiredTime > 0 && expiredTime <= Math.floor(now))

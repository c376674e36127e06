import { type PriceUnit, VIDEO_PRICE_UNITS } from '#domain/pricing/video-prices.ts'
import type { MappedModels } from '#projections/channels/query.ts'
import { isPricePerSecond } from '../contract/price-unit-by-model-name.ts'

/**
 * Returns the models that are videos at a channel, each with the unit of its price. All other
 * models of the channel are billed per call.
 */
export type VideoPriceUnits = (channel: {
  readonly type: number
  readonly models: readonly string[]
  readonly modelPrefix: string
  readonly modelMapping: string
}) => ReadonlyMap<string, PriceUnit>

/**
 * The data that the index keeps of a channel. The channel's mapping of model names is parsed once
 * and not kept.
 */
type IndexedChannel = Pick<MappedModels, 'type' | 'isEnabled' | 'expiredTime'> & {
  readonly models: readonly IndexedModel[]
  readonly groups: ReadonlySet<string>
  /**
   * The models that the channel bills by the second. The channel bills all other models per call.
   */
  readonly perSecond: ReadonlySet<string>
}

type IndexedModel = {
  readonly name: string
  readonly channels: Set<IndexedChannel>
  /** The number of `channels` that bill the model by the second. */
  perSecond: number
}

/** Selects the channels that can bill the calls of a caller. */
export type UnitFilter = {
  readonly groups: Iterable<string>
  /** The types of the channels. All types count by default. */
  readonly types?: readonly number[]
  /** The time in Unix seconds. Channels that have expired by then do not count. */
  readonly now: number
}

/**
 * The units in which channels bill their models, by model. A changed channel replaces only its own
 * entries, so that the cost of a change does not depend on the number of channels.
 */
export class PriceUnitIndex {
  private readonly videoPriceUnits: VideoPriceUnits
  private readonly channels = new Map<number, IndexedChannel>()
  private readonly models = new Map<string, IndexedModel>()

  constructor(videoPriceUnits: VideoPriceUnits) {
    this.videoPriceUnits = videoPriceUnits
  }

  put(row: MappedModels): void {
    this.remove(row.id)
    const units = [...this.videoPriceUnits(row)]
    const names = new Set(row.models.map((name) => row.modelPrefix + name))
    const channel: IndexedChannel = {
      ...{ type: row.type, isEnabled: row.isEnabled, expiredTime: row.expiredTime },
      models: [...names].map((name) => this.modelOf(name)),
      groups: new Set(row.groups),
      perSecond: new Set(units.flatMap(([name, unit]) => (unit === 'second' ? [name] : []))),
    }
    for (const model of channel.models) {
      model.channels.add(channel)
      if (channel.perSecond.has(model.name)) model.perSecond += 1
    }
    this.channels.set(row.id, channel)
  }

  remove(channelId: number): void {
    const channel = this.channels.get(channelId)
    if (channel === undefined) return
    this.channels.delete(channelId)
    for (const model of channel.models) {
      model.channels.delete(channel)
      if (channel.perSecond.has(model.name)) model.perSecond -= 1
      if (model.channels.size === 0) this.models.delete(model.name)
    }
  }

  clear(): void {
    this.channels.clear()
    this.models.clear()
  }

  /**
   * Returns the units in which the usable channels of each group bill a model. A group without an
   * entry bills it per call. There is no entry at all if no channel bills the model by the second.
   */
  unitsByGroup(model: string, filter: UnitFilter): ReadonlyMap<string, ReadonlySet<PriceUnit>> {
    const units = new Map<string, Set<PriceUnit>>()
    const { channels, perSecond } = this.models.get(model) ?? NOWHERE
    if (perSecond === 0) return units
    const unitsMax = perSecond === channels.size ? 1 : 2
    // A group whose units are all found is not searched for any more. Only the caller's groups are
    // searched for, because a channel can name thousands that nobody can use.
    const open = new Set(filter.groups)
    for (const channel of channels) {
      if (open.size === 0) break
      if (!isUsable(channel, filter)) continue
      const unit = channel.perSecond.has(model) ? 'second' : 'call'
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
   * Returns the models whose names tell another unit than the channels bill, with the units that
   * the channels bill. Disabled channels count too.
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
   * Returns the entry of a model, or creates it. All channels use the entry's copy of the name,
   * because thousands of channels can have the same models.
   */
  private modelOf(name: string): IndexedModel {
    const model = this.models.get(name) ?? { name, channels: new Set(), perSecond: 0 }
    this.models.set(name, model)
    return model
  }
}

const NOWHERE: Pick<IndexedModel, 'channels' | 'perSecond'> = { channels: new Set(), perSecond: 0 }

const isUsable = (
  { type, isEnabled, expiredTime }: IndexedChannel,
  { types, now }: UnitFilter,
): boolean =>
  isEnabled &&
  (types?.includes(type) ?? true) &&
  !(expiredTime > 0 && expiredTime <= Math.floor(now))

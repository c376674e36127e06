import { type PriceUnit, VIDEO_PRICE_UNITS } from '#domain/pricing/video-prices.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type MappedModels, mappedModelsOfChangedChannels } from '#projections/channels/query.ts'
import { optionQueries } from '../contract/options.ts'
import { isPricePerSecond } from '../contract/price-unit.ts'
import { type App, type ReadDeps, upToDate, type VideoPriceUnits } from '../read-route-helpers.ts'

type UnitsOfModels = ReadonlyMap<string, PriceUnit>

/**
 * The units in which the usable channels of each group bill a model, by model and group. What has
 * no entry is billed per call.
 */
export type UnitsByGroup = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<PriceUnit>>>

type UnitDeps = Pick<ReadDeps, 'videoPriceUnits' | 'servedTypes'> & { readonly core: Core }

type ChannelUnits = {
  readonly channel: MappedModels
  readonly units: UnitsOfModels
}

/** A model at one channel, with its unit there. Only models that are videos somewhere have one. */
type Offer = {
  readonly model: string
  readonly unit: PriceUnit
  readonly channel: Pick<MappedModels, 'groups' | 'expiredTime'>
}

/**
 * Creates the function that reads the units of prices at the usable channels. A read fetches only
 * the channels that have changed since the last one, because the models and mappings of a thousand
 * channels are megabytes, and every visitor asks for the prices.
 */
export function createPriceUnits(deps: UnitDeps): () => Promise<UnitsByGroup> {
  const { core, videoPriceUnits } = deps
  const types = new Set(deps.servedTypes)
  const all = new Map<number, ChannelUnits>()
  let upTo = -1
  let offers: readonly Offer[] = []
  return async () => {
    const changed = await mappedModelsOfChangedChannels(core.db, upTo)
    for (const channel of changed) {
      const { id, changedPosition, isEnabled, type } = channel
      upTo = Math.max(upTo, changedPosition)
      // Reads can overlap, and a row of the older one must not replace a row of the newer one.
      if (changedPosition <= (all.get(id)?.channel.changedPosition ?? -1)) continue
      const isUsable = isEnabled && types.has(type)
      if (isUsable) all.set(id, { channel, units: videoPriceUnits(channel) })
      else all.set(id, { channel: { ...channel, models: [] }, units: NO_VIDEOS })
    }
    if (changed.length > 0) offers = offersOfVideos([...all.values()])
    return unitsByGroup(offers, core.now() / 1_000)
  }
}

const NO_VIDEOS: UnitsOfModels = new Map()

/** Lists the offers of the models that are videos at one of the channels or more. */
function offersOfVideos(channels: readonly ChannelUnits[]): readonly Offer[] {
  const videos = new Set(channels.flatMap(({ units }) => [...units.keys()]))
  if (videos.size === 0) return []
  return channels.flatMap(({ channel, units }) =>
    channel.models
      .map((name) => channel.modelPrefix + name)
      .filter((model) => videos.has(model))
      .map((model) => ({ model, unit: units.get(model) ?? 'call', channel })),
  )
}

/** `now` is in Unix seconds. */
function unitsByGroup(offers: readonly Offer[], now: number): UnitsByGroup {
  const byModel = new Map<string, Map<string, Set<PriceUnit>>>()
  for (const { model, unit, channel } of offers) {
    if (channel.expiredTime > 0 && channel.expiredTime <= Math.floor(now)) continue
    const byGroup = byModel.get(model) ?? new Map<string, Set<PriceUnit>>()
    byModel.set(model, byGroup)
    for (const group of channel.groups) {
      byGroup.set(group, (byGroup.get(group) ?? new Set()).add(unit))
    }
  }
  return byModel
}

/**
 * `GET /api/option/price_units`, for admins: the units of the prices of the models whose names do
 * not tell them. Disabled channels count too, because a price is entered before they are enabled.
 */
export function listPriceUnits(app: App, deps: ReadDeps): void {
  const { core, servedTypes, videoPriceUnits } = deps
  const types = new Set(servedTypes)
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_units'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => {
      const rows = await mappedModelsOfChangedChannels(core.db, -1)
      const channels = rows.filter(({ isDeleted, type }) => !isDeleted && types.has(type))
      return success(unitsUnlikeNames(channels, videoPriceUnits))
    },
  })
}

/**
 * Returns the units in which channels bill their models, of those models whose names tell another
 * unit.
 */
export function unitsUnlikeNames(
  channels: readonly Parameters<VideoPriceUnits>[0][],
  videoPriceUnits: VideoPriceUnits,
): Record<string, PriceUnit[]> {
  const byModel = new Map<string, Set<PriceUnit>>()
  for (const channel of channels) {
    const units = videoPriceUnits(channel)
    for (const name of channel.models) {
      const model = channel.modelPrefix + name
      const known = byModel.get(model) ?? new Set()
      byModel.set(model, known.add(units.get(model) ?? 'call'))
    }
  }
  const unlike = [...byModel].filter(([model, units]) => {
    const isPerSecond = isPricePerSecond({ entry_units: VIDEO_PRICE_UNITS }, model)
    return units.size > 1 || units.has('second') !== isPerSecond
  })
  return Object.fromEntries(unlike.map(([model, units]) => [model, [...units].sort()]))
}

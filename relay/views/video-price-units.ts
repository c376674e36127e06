import type { ChannelTerms } from '#domain/channels/events.ts'
import { type PriceUnit, unitOfVideo } from '#domain/pricing/video-prices.ts'
import { modelNamesIn } from '#relay/providers/profiles/read-channel-json-and-model-mapping.ts'
import { servesVideos, videoVendorOf } from './channel-view.ts'
import { upstreamModelOf } from './parse-channel-rules.ts'

type VideoTerms = Pick<ChannelTerms, 'type' | 'models' | 'modelPrefix' | 'modelMapping'>

/**
 * Returns the models of a channel that generate videos, by the names that callers use, each with
 * the unit of its price. All other models of the channel are billed per call. The unit is that of
 * `videoPrice`, by which tasks are billed, and depends on the channel's type and the provider's
 * name for the model. A mapping that can't be parsed maps no name.
 */
export function videoPriceUnits(terms: VideoTerms): ReadonlyMap<string, PriceUnit> {
  const vendor = videoVendorOf({ terms })?.vendor
  if (vendor === undefined) return NONE
  const rules = { modelNames: modelNamesIn(terms.modelMapping) }
  return new Map(
    terms.models
      .map((name) => terms.modelPrefix + name)
      .filter((model) => servesVideos({ terms, rules }, model))
      .map((model) => {
        const names = [model, upstreamModelOf(terms, rules, model)]
        return [model, unitOfVideo(names, vendor)] as const
      }),
  )
}

const NONE: ReadonlyMap<string, PriceUnit> = new Map()

import type { ChannelTerms } from '#domain/channels/events.ts'
import { unitPrice } from '#domain/pricing/charge.ts'
import { decimalText } from '#domain/pricing/decimal.ts'
import {
  namesOfVideoRatios,
  unitOfVideo,
  type VideoConditions,
  type VideoPricing,
  type VideoRatios,
  videoPrice,
} from '#domain/pricing/video-prices.ts'
import type { VideoMedia } from '#domain/tasks/events.ts'
import type { VideoVendorName } from '#relay/providers/profiles/provider-profile.ts'
import { modelNamesIn } from '#relay/providers/profiles/read-channel-json-and-model-mapping.ts'
import { servesVideos, videoVendorOf } from '#relay/views/channel-view.ts'
import { upstreamModelOf } from '#relay/views/parse-channel-rules.ts'
import { TaskRequestError } from '../read-task-request-body.ts'
import { VIDEO_VENDORS } from './select-channels-and-build-video-request.ts'
import type { VideoRequest, VideoVendor } from './video-vendor.ts'

type VideoTerms = Pick<ChannelTerms, 'type' | 'models' | 'modelPrefix' | 'modelMapping'>

/**
 * Returns how the video models of a channel are billed, by the names that callers use for the
 * models. All other models of the channel are billed per call. The unit and the ratios are those
 * that `videoPrice` uses when a task is billed. They depend on the channel's type and on the model
 * name to which the channel's mapping leads. A mapping that can't be parsed maps no name.
 */
export function videoPricingAt(terms: VideoTerms): ReadonlyMap<string, VideoPricing> {
  const vendor = videoVendorOf({ terms })?.vendor
  if (vendor === undefined) return NONE
  const rules = { modelNames: modelNamesIn(terms.modelMapping) }
  return new Map(
    terms.models
      .map((name) => terms.modelPrefix + name)
      .filter((model) => servesVideos({ terms, rules }, model))
      .map((model) => [model, pricingOf(vendor, model, upstreamModelOf(terms, rules, model))]),
  )
}

const NONE: ReadonlyMap<string, VideoPricing> = new Map()

/**
 * The pricing of each vendor's models. All channels share these objects, because thousands of
 * channels may offer the same models.
 */
const SHARED = new Map<string, VideoPricing>()
const SHARED_MAX = 10_000

function pricingOf(vendorName: VideoVendorName, model: string, upstream: string): VideoPricing {
  const key = JSON.stringify([vendorName, model, upstream])
  const shared = SHARED.get(key)
  if (shared !== undefined) return shared
  const vendor = VIDEO_VENDORS[vendorName]
  let ratios: VideoRatios | null | undefined
  const pricing: VideoPricing = {
    unit: unitOfVideo([model, upstream], vendorName),
    countsTokens: vendor.countsTokens === true,
    // The ratios are computed when a list shows them, because most models are in no list.
    ratios: () => {
      if (ratios === undefined) ratios = ratiosOf(vendor, model, upstream)
      return ratios
    },
  }
  if (SHARED.size >= SHARED_MAX) SHARED.clear()
  SHARED.set(key, pricing)
  return pricing
}

/** A request that leaves every choice to the vendor. */
const ANY_VIDEO: VideoRequest = {
  ...{ action: 'TEXT_TO_VIDEO', model: '', prompt: null, negativePrompt: null, seconds: null },
  ...{ size: null, resolution: null, ratio: null, images: [], lastImage: null, seed: null },
  ...{ hasAudio: null, mode: null },
}
/** The options that have ratios, each with a request for a video that has this option. */
const WITH_OPTION: Readonly<Record<string, Partial<VideoRequest>>> = {
  pro: { mode: 'pro' },
  audio: { hasAudio: true },
}

/**
 * Returns the ratios of the videos that a vendor makes with a model. Returns null if all of them
 * cost the same, or if the vendor makes no video without options.
 */
function ratiosOf(vendor: VideoVendor, model: string, upstream: string): VideoRatios | null {
  const priceOf = (conditions: VideoConditions) =>
    videoPrice(ONE_DOLLAR, [model, upstream], vendor.platform, conditions)
  const factorOf = (media: VideoMedia, isNamed: (name: string) => boolean): number => {
    const price = priceOf(media)
    const factors = price.mode === 'call' ? (price.factors ?? []) : []
    return Number(factors.find(({ name }) => isNamed(name))?.ratio ?? 1)
  }
  const usual = mediaOf(vendor, upstream, {})
  if (usual === null) return null
  const names = namesOfVideoRatios([model, upstream], vendor.platform)
  const isOf = (media: VideoMedia) => (name: string) =>
    name === media.resolution || name === lengthNameOf(media)
  const resolutions = names.resolutions.flatMap((name) => {
    const media = mediaNamed(vendor, upstream, name)
    return media === null ? [] : [[name, factorOf(media, isOf(media))] as const]
  })
  const options = names.options.flatMap((name) => {
    const media = mediaOf(vendor, upstream, WITH_OPTION[name] ?? {})
    const isOffered = media?.options.includes(name) === true
    return isOffered ? [[name, factorOf(media, (one) => one === name)] as const] : []
  })
  const offered = resolutions.map(([name]) => name)
  const resolution = offered.find((name) => name === lengthNameOf(usual)) ?? usual.resolution
  const price = priceOf(usual)
  const ratio = price.mode === 'call' ? Number(decimalText(unitPrice(price))) : 1
  if ([...resolutions, ...options].every(([, one]) => one === 1) && ratio === 1) return null
  return {
    resolutions: Object.fromEntries(resolutions),
    options: Object.fromEntries(options),
    default: { resolution, options: usual.options, ratio },
  }
}

const ONE_DOLLAR = { mode: 'call', list: 0, price: '1', group: '1' } as const

/** Returns the name of a ratio that applies to one length only, such as `768p 10s`. */
const lengthNameOf = ({ resolution, seconds }: VideoMedia): string => `${resolution} ${seconds}s`

/**
 * Returns the properties of the video that the name of a ratio states: a resolution and, in some
 * names, a length. Returns null if the vendor does not make such a video with the model.
 */
function mediaNamed(vendor: VideoVendor, model: string, name: string): VideoMedia | null {
  const [resolution = '', length] = name.split(' ')
  const seconds = length === undefined ? null : Number.parseInt(length, 10)
  const media = mediaOf(vendor, model, { resolution, seconds })
  return media?.resolution === resolution ? media : null
}

/**
 * Returns the properties of the video that the vendor makes for a request, or null if the vendor
 * refuses the request.
 */
function mediaOf(
  vendor: VideoVendor,
  model: string,
  options: Partial<VideoRequest>,
): VideoMedia | null {
  try {
    return { size: null, ...vendor.media({ ...ANY_VIDEO, ...options, model }, model) }
  } catch (error) {
    if (error instanceof TaskRequestError) return null
    throw error
  }
}

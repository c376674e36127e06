import { channelsIn, type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { VideoMedia } from '#domain/tasks/video-media.ts'
import type { VideoVendorName } from '#relay/providers/openai-compatible/provider-profile.ts'
import { type RelayChannel, videoVendorOf } from '#relay/views/channel-view.ts'
import { upstreamModelOf } from '#relay/views/parsed-channel-settings.ts'
import type { ProviderRequest } from '../send-request-to-task-provider.ts'
import { DOUBAO } from './doubao.ts'
import { HAILUO } from './hailuo.ts'
import { JIMENG } from './jimeng.ts'
import { KLING } from './kling.ts'
import { SORA } from './sora.ts'
import { VEO } from './veo.ts'
import { VEO_ON_VERTEX } from './veo-on-vertex.ts'
import {
  checkPictures,
  type VendorCall,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'
import { VIDU } from './vidu.ts'
import { WAN } from './wan.ts'

export type VideoTask = {
  readonly request: VideoRequest
  /** The only platform whose channels may serve the request; null for any. */
  readonly platform: string | null
}

export type PlannedVideo = {
  readonly offer: Offer<RelayChannel>
  readonly platform: string
  readonly media: VideoMedia
  /** The name of the model at the first channel. */
  readonly upstreamModel: string
}

const VIDEO_VENDORS: Readonly<Record<VideoVendorName, VideoVendor>> = {
  doubao: DOUBAO,
  hailuo: HAILUO,
  jimeng: JIMENG,
  kling: KLING,
  sora: SORA,
  veo: VEO,
  'veo-on-vertex': VEO_ON_VERTEX,
  vidu: VIDU,
  wan: WAN,
}

export const vendorOf = (channel: RelayChannel): VideoVendor | null => {
  const name = videoVendorOf(channel)?.vendor
  return name === undefined ? null : VIDEO_VENDORS[name]
}

export const upstreamModel = ({ terms, rules }: RelayChannel, model: string): string =>
  upstreamModelOf(terms, rules, model)

/**
 * Plans the video as the vendor of the first channel will make it. Only channels that make the same
 * video are offered, because the hold and the price cover no other. Returns null if there is no
 * channel. Throws `TaskRequestError` if the vendor does not offer the requested video.
 */
export function planVideo(
  channels: Offer<RelayChannel>,
  model: string,
  { request, platform: only }: VideoTask,
  origin: TaskRecord | null,
): PlannedVideo | null {
  const isFit = (channel: RelayChannel) => only === null || vendorOf(channel)?.platform === only
  const first = [...channelsIn(channels)].find(isFit)
  const vendor = first === undefined ? null : vendorOf(first)
  if (first === undefined || vendor === null) return null
  checkPictures(request, vendor)
  const mediaAt = (channel: RelayChannel) =>
    origin?.submitted.media ?? vendor.media(request, upstreamModel(channel, model))
  const media = mediaAt(first)
  const makesSame = (channel: RelayChannel) =>
    channel === first ||
    (vendorOf(channel) === vendor &&
      upstreamModel(channel, model) === upstreamModel(first, model) &&
      isSame(mediaAt(channel), media))
  const offer = offerOf([...channelsIn(channels)].filter(makesSame))
  const { platform } = vendor
  return { offer, platform, media, upstreamModel: upstreamModel(first, model) }
}

/** Returns a vendor's call as a request to the provider. */
export function providerRequestOf(
  vendor: VideoVendor,
  { method, path, body, headers, model, hasLongTexts }: VendorCall,
  key: string,
  nowMs: number,
): ProviderRequest {
  const { sign } = vendor
  return {
    ...{ method, path },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    ...(headers === undefined ? {} : { headers }),
    ...(model === undefined ? {} : { model }),
    ...(hasLongTexts === undefined ? {} : { hasLongTexts }),
    ...(sign === undefined ? {} : { sign: (request) => sign(key, request, nowMs) }),
  }
}

import { channelsIn, type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { VideoMedia } from '#domain/tasks/events.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { VideoVendorName } from '#relay/providers/profiles/provider-profile.ts'
import { type RelayChannel, videoVendorOf } from '#relay/views/channel-view.ts'
import { upstreamModelOf } from '#relay/views/parse-channel-rules.ts'
import type { ProviderRequest } from '../send-request-to-task-provider.ts'
import { DOUBAO } from './doubao.ts'
import { HAILUO } from './hailuo.ts'
import { JIMENG } from './jimeng.ts'
import { KLING } from './kling.ts'
import { sizeOfVideo } from './sizes-of-videos.ts'
import { SORA } from './sora.ts'
import { VEO } from './veo.ts'
import { VEO_ON_VERTEX } from './veo-on-vertex.ts'
import {
  checkPictures,
  type NameOfMember,
  type NamesOfOptions,
  observeReads,
  type SubmitContext,
  type VendorCall,
  type VideoRequest,
  type VideoVendor,
  withNamesOfCaller,
} from './video-vendor.ts'
import { VIDU } from './vidu.ts'
import { WAN } from './wan.ts'

export type VideoTask = {
  readonly request: VideoRequest
  /**
   * The only vendor platform whose channels may serve the request, such as `kling`; null if any
   * may.
   */
  readonly platform: string | null
  readonly names: NamesOfOptions
  readonly nameOf: NameOfMember
}

export type PlannedVideo = {
  readonly offer: Offer<RelayChannel>
  readonly platform: string
  readonly media: VideoMedia
  /** The name that the provider of the first channel uses for the model. */
  readonly upstreamModel: string
}

export const VIDEO_VENDORS: Readonly<Record<VideoVendorName, VideoVendor>> = {
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
 * Determines the length, resolution and size of the video that the vendor of the first suitable
 * channel will make. Selects the channels that make exactly this video, because the price and the
 * reserved quota are those of this video. Returns null if there is no suitable channel. Throws
 * `TaskRequestError` if the vendor does not offer the requested video.
 */
export function selectVideoChannels(
  channels: Offer<RelayChannel>,
  model: string,
  video: VideoTask,
  origin: TaskRecord | null,
): PlannedVideo | null {
  return withNamesOfCaller(video.nameOf, () => planVideo(channels, model, video, origin))
}

function planVideo(
  channels: Offer<RelayChannel>,
  model: string,
  { request, platform: requiredPlatform }: VideoTask,
  origin: TaskRecord | null,
): PlannedVideo | null {
  const isFit = (channel: RelayChannel) =>
    requiredPlatform === null || vendorOf(channel)?.platform === requiredPlatform
  const first = [...channelsIn(channels)].find(isFit)
  const vendor = first === undefined ? null : vendorOf(first)
  if (first === undefined || vendor === null) return null
  checkPictures(request, vendor)
  const mediaAt = (channel: RelayChannel): VideoMedia =>
    origin?.submitted.media ?? mediaOf(vendor, request, upstreamModel(channel, model))
  const media = mediaAt(first)
  const originId = origin?.place?.upstreamId ?? null
  // `submit` is called here only because it refuses invalid options that `media` does not read.
  // They must be refused before quota is held for the task.
  vendor.submit(request, media, { model: upstreamModel(first, model), originId })
  const makesSame = (channel: RelayChannel) =>
    channel === first ||
    (vendorOf(channel) === vendor &&
      upstreamModel(channel, model) === upstreamModel(first, model) &&
      isSame(mediaAt(channel), media))
  const offer = offerOf([...channelsIn(channels)].filter(makesSame))
  const { platform } = vendor
  return { offer, platform, media, upstreamModel: upstreamModel(first, model) }
}

function mediaOf(vendor: VideoVendor, request: VideoRequest, model: string): VideoMedia {
  const made = vendor.media(request, model)
  const { seconds, resolution, size = sizeOfVideo(request, resolution), ...others } = made
  return { seconds, resolution, size, ...others }
}

type SubmittedVideo = {
  readonly call: VendorCall
  /** The names of the request's members whose options the vendor does not support. */
  readonly unread: readonly string[]
}

/**
 * Returns the request that submits the video to its vendor, and the names of the caller's members
 * that this request does not contain.
 */
export function submissionOf(
  vendor: VideoVendor,
  { request, names }: Omit<VideoTask, 'nameOf'>,
  media: VideoMedia,
  context: SubmitContext,
): SubmittedVideo {
  const { observed, unread } = observeReads(request, names)
  // A video that continues another video takes its length and size from the other video, so these
  // options are not read from the request.
  if (context.originId === null) vendor.media(observed, context.model)
  const call = vendor.submit(observed, media, context)
  const commands = vendor.unreadCommands?.(request.prompt, objectOrEmpty(call.body)) ?? []
  return { call, unread: [...unread(), ...commands] }
}

/** Converts a vendor's call to the request that is sent to the provider. */
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

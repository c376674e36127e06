import { notPossible } from '../read-task-request-body.ts'
import { choose, reject, type VideoRequest } from './video-vendor.ts'

/**
 * Returns the requested resolution. If only a size was requested, the resolution is its shorter
 * side: `720p` for `1280x720`. If neither was requested, returns the first of `offered`, the
 * resolutions that the vendor offers. Throws `TaskRequestError` if the requested one is not one of
 * them. `ratios` are the ratios of the sizes that the error names.
 */
export function chooseResolution(
  request: Pick<VideoRequest, 'resolution' | 'size'>,
  offered: readonly string[],
  ratios?: NamedRatios,
): string {
  const nameOf = (resolution: string | null) =>
    resolution === '2160p' && offered.includes('4k') ? '4k' : resolution
  const { resolution } = request
  if (resolution !== null) return choose('resolution', nameOf(resolution), offered)
  const { size } = request
  if (size === null) return choose('resolution', null, offered)
  const ofSize = nameOf(resolutionOfSize(size))
  return ofSize !== null && offered.includes(ofSize)
    ? ofSize
    : reject('size', sizesOf(offered, ratios))
}

/** Returns the shorter side of a size as a resolution; null for a text that is not a size. */
export function resolutionOfSize(size: string): string | null {
  const sides = sidesOf(size)
  return sides === null ? null : `${Math.min(...sides)}p`
}

const sidesOf = (size: string): readonly [number, number] | null => {
  const [, width, height] = /^([1-9]\d{1,3})[x*×]([1-9]\d{1,3})$/i.exec(size) ?? []
  return width === undefined || height === undefined ? null : [Number(width), Number(height)]
}

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '3:2', '2:3'] as const

const SOME_RATIOS = ['16:9', '9:16', '1:1', '…']
const SOME_SIZES = ['1280x720', '720x1280', '…']

/**
 * Returns the requested aspect ratio. If only a size was requested, returns the nearest ratio.
 * Returns null if neither was requested. Throws `TaskRequestError` for an invalid ratio or size.
 */
export function ratioOf(request: Pick<VideoRequest, 'ratio' | 'size'>): string | null {
  const { ratio } = request
  if (ratio !== null)
    return /^\d{1,2}:\d{1,2}$/.test(ratio) ? ratio : notPossible('aspect_ratio', SOME_RATIOS)
  const { size } = request
  if (size === null) return null
  const sides = sidesOf(size) ?? notPossible('size', SOME_SIZES)
  const distance = (one: string) => {
    const [width = 1, height = 1] = one.split(':').map(Number)
    return Math.abs(Math.log((sides[0] * height) / (sides[1] * width)))
  }
  return RATIOS.reduce((best, one) => (distance(one) < distance(best) ? one : best))
}

/**
 * Returns the requested size if it is the size of a video with this resolution and the requested
 * ratio. Returns null for any other size, because the vendor makes a video of another size.
 */
export function sizeOfVideo(request: VideoRequest, resolution: string | null): string | null {
  const [width, height] = (request.size === null ? null : sidesOf(request.size)) ?? []
  if (width === undefined || height === undefined) return null
  const shorterSide = resolution === '4k' ? '2160p' : resolution
  if (shorterSide !== `${Math.min(width, height)}p`) return null
  const [across, down] = (ratioOf(request) ?? '').split(':').map(Number)
  return width * Number(down) === height * Number(across) ? `${width}x${height}` : null
}

/** The ratios of the sizes that errors name. Vendors accept others too. */
const NAMED_RATIOS = ['16:9', '9:16'] as const
type NamedRatios = readonly (typeof NAMED_RATIOS)[number][]

/** Returns a size for each of the resolutions and ratios, such as `1280x720`. */
export const sizesOf = (
  resolutions: readonly string[],
  ratios: NamedRatios = NAMED_RATIOS,
): readonly string[] =>
  resolutions.flatMap((name) => {
    const shorterSide = name === '4k' ? 2_160 : Number.parseInt(name, 10)
    // Videos have even sides, such as 854 by 480 pixels.
    const longerSide = 2 * Math.round((shorterSide * 16) / 9 / 2)
    return ratios.map((ratio) =>
      (ratio === '16:9' ? [longerSide, shorterSide] : [shorterSide, longerSide]).join('x'),
    )
  })

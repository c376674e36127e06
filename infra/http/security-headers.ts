import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The origins of other sites from which the pages are allowed to load scripts, frames, images and
 * media, or to which they are allowed to send forms.
 */
export type PageSources = {
  readonly scripts: readonly string[]
  readonly frames: readonly string[]
  readonly images: readonly string[]
  readonly media: readonly string[]
  readonly forms: readonly string[]
  /**
   * True if a frame must be able to communicate with a window that it opens, such as a login
   * window.
   */
  readonly hasPopups: boolean
}

export const NO_SOURCES: PageSources = {
  scripts: [],
  frames: [],
  images: [],
  media: [],
  forms: [],
  hasPopups: false,
}

// NOTE: inline styles and scripts are forbidden. React's style properties use the CSSOM, which the
// policy does not restrict.
const policyOf = ({ scripts, frames, images, media, forms }: PageSources): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...scripts].join(' '),
    "style-src 'self'",
    ["img-src 'self' data: blob:", ...images].join(' '),
    ["media-src 'self'", ...media].join(' '),
    "font-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    frames.length === 0 ? "frame-src 'none'" : ['frame-src', ...frames].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
    ["form-action 'self'", ...forms].join(' '),
    "object-src 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

const HEADERS = {
  'content-security-policy': policyOf(NO_SOURCES),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
} as const

/** Adds security headers to a response. Forbids caches to store responses of `/api`. */
export function addSecurityHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(HEADERS)
  if (request.protocol === 'https') {
    reply.header('strict-transport-security', 'max-age=31536000')
  }
  if (isApi(request)) {
    reply.header('cache-control', 'no-store, private')
    reply.header('vary', 'Cookie, Authorization, Accept-Language')
  }
}

export function admitSources(reply: FastifyReply, sources: PageSources): void {
  const { scripts, frames, images, media, forms, hasPopups } = sources
  if ([scripts, frames, images, media, forms].some(({ length }) => length > 0)) {
    reply.header('content-security-policy', policyOf(sources))
  }
  if (hasPopups) reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
}

/**
 * Reports whether a request is for the API. The path pattern of the matched route decides. If no
 * route matches, the URL decides.
 */
export const isApi = ({ routeOptions, url }: FastifyRequest): boolean =>
  /^\/api(\/|\?|$)/.test(routeOptions.url ?? url)

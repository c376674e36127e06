import type { FastifyReply, FastifyRequest } from 'fastify'

/** The origins of other sites from which pages may load scripts and images, or show frames. */
export type PageSources = {
  readonly scripts: readonly string[]
  readonly frames: readonly string[]
  readonly images: readonly string[]
  /** The origins of sound. */
  readonly media: readonly string[]
  /** The additional origins to which forms may be sent. */
  readonly forms: readonly string[]
  /** True when one of the frames communicates with a window that it opens. */
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

// NOTE: there are no inline styles or scripts: React sets style properties through the CSSOM, which
// the policy does not restrict.
const policyOf = ({ scripts, frames, images, media, forms }: PageSources): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...scripts].join(' '),
    "style-src 'self'",
    ["img-src 'self' data: blob:", ...images].join(' '),
    ...(media.length === 0 ? [] : [["media-src 'self'", ...media].join(' ')]),
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

/**
 * Adds the headers to every answer, the console's pages included. Answers of `/api` are never
 * cached.
 */
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

/** Extends the policy for a page that needs other sites. */
export function admitSources(reply: FastifyReply, sources: PageSources): void {
  const { scripts, frames, images, media, forms, hasPopups } = sources
  if ([scripts, frames, images, media, forms].some(({ length }) => length > 0)) {
    reply.header('content-security-policy', policyOf(sources))
  }
  if (hasPopups) reply.header('cross-origin-opener-policy', 'same-origin-allow-popups')
}

/**
 * Reports whether the request belongs to the management API: by its route, or without a route by
 * its path. It never uses another spelling of the path than the router's.
 */
export const isApi = ({ routeOptions, url }: FastifyRequest): boolean =>
  /^\/api(\/|\?|$)/.test(routeOptions.url ?? url)

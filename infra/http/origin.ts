import type { FastifyRequest } from 'fastify'
import { httpError } from './http-errors.ts'

/**
 * Throws 403 for a request that another site made a browser send. Browsers say so by
 * `Sec-Fetch-Site`, older ones by `Origin`; a script that sends neither passes, and is held by
 * session and `User-Id` alone.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw httpError('CrossSite')
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/** As above, for a socket: browsers always send `Origin` with it, so it has to be there. */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin === undefined || !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/**
 * Throws 403 where a browser opens the address as a page: what lets somebody in by its query alone
 * would let whoever opens a link of a mail in as its writer.
 */
export function refuseNavigation(request: FastifyRequest): void {
  if (request.headers['sec-fetch-mode'] === 'navigate') throw httpError('CrossSite')
}

/** Compares hosts, ports included: behind a proxy that ends TLS the scheme is not ours to see. */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  const own = `${protocol}//${request.host}`
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === host
}

import type { FastifyRequest } from 'fastify'
import { httpError } from './http-errors.ts'

/**
 * Throws a 403 for a request that another site made a browser send. Browsers report the origin of
 * such requests in `Sec-Fetch-Site`, and older browsers in `Origin`. A request without these
 * headers passes this check, because the session and `User-Id` still protect it.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw httpError('CrossSite')
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/**
 * Throws a 403 unless the `Origin` is this site. The check is for websocket requests, in which
 * browsers always send `Origin`.
 */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin === undefined || !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/**
 * Throws a 403 if a browser opens the address as a page. The check protects routes on which the
 * query alone logs the caller in. Otherwise, a link in a mail could log its reader in as the sender
 * of the mail.
 */
export function refuseNavigation(request: FastifyRequest): void {
  if (request.headers['sec-fetch-mode'] === 'navigate') throw httpError('CrossSite')
}

/**
 * Compares hosts including ports. The scheme is not compared, because it is unknown behind a proxy
 * that terminates TLS.
 */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  const own = `${protocol}//${request.host}`
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === host
}

import type { FastifyRequest } from 'fastify'
import { httpError } from './http-error-class-and-catalogue.ts'

/**
 * Throws a 403 for a request that a page of another site caused. Checks the headers
 * `Sec-Fetch-Site` and `Origin`. Older browsers send only `Origin`. A request without both headers
 * passes, because the session and `User-Id` still protect the site.
 */
export function rejectCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw httpError('CrossSite')
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/** Throws a 403 unless `Origin` is this site. Browsers always send `Origin` with websockets. */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin === undefined || !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/**
 * Throws a 403 if a browser opens the address as a page. Used for routes whose query is sufficient
 * to log in. Without this check, a link in a mail could log its reader in as the sender of the
 * mail.
 */
export function rejectNavigation(request: FastifyRequest): void {
  if (request.headers['sec-fetch-mode'] === 'navigate') throw httpError('CrossSite')
}

/**
 * Reports whether the origin is this site. Only host and port are compared, because the scheme is
 * unknown behind a proxy that terminates TLS.
 */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  const own = `${protocol}//${request.host}`
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === host
}

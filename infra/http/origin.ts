import type { FastifyRequest } from 'fastify'
import { httpError } from './http-errors.ts'

/**
 * Throws a 403 for a request that another site made a browser send. Browsers report this in
 * `Sec-Fetch-Site`, older ones in `Origin`. A script that sends neither passes, because session and
 * `User-Id` still protect the request.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw httpError('CrossSite')
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/** Requires our own `Origin` for a socket, because browsers always send it. */
export function requireOwnOrigin(request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin === undefined || !isOwnOrigin(request, origin)) throw httpError('CrossSite')
}

/**
 * Throws a 403 when a browser opens the address as a page. Where a query alone logs in, a link in a
 * mail could otherwise log its reader in as the sender of the mail.
 */
export function refuseNavigation(request: FastifyRequest): void {
  if (request.headers['sec-fetch-mode'] === 'navigate') throw httpError('CrossSite')
}

/** Compares hosts including ports. The scheme is unknown behind a proxy that terminates TLS. */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  const own = `${protocol}//${request.host}`
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === host
}

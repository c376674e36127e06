import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { optionValue } from '#domain/options/registry.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'

/** Where passkeys are good: an origin, and the name that they are bound to. */
export type PasskeySite = { readonly origin: string; readonly id: string; readonly name: string }

/**
 * The site as the request's browser names it (its host was checked against ours), else the
 * configured address. Throws where a browser makes no passkeys: at a bare IP address, or none.
 */
export async function passkeySite(deps: Deps, request: FastifyRequest): Promise<PasskeySite> {
  const site = await siteOrNone(deps, request)
  if (site === null) throw refused('PasskeyNeedsDomain')
  return site
}

/** null where a browser makes none. */
export async function siteOrNone(
  { core }: Deps,
  request: FastifyRequest,
): Promise<PasskeySite | null> {
  const { values } = await allOptions(core.db)
  const configured = optionValue(values, 'ServerAddress')
  const given = request.headers.origin ?? configured
  const address = given || `${request.protocol}://${request.host}`
  if (!URL.canParse(address)) return null
  const { origin, hostname } = new URL(address)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return null
  return { origin, id: hostname, name: optionValue(values, 'SystemName') }
}

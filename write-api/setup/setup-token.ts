import { createHash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SITE_STREAM } from '#domain/site/events.ts'
import type { Vault } from '#infra/vault/port.ts'

/** Lets the first-run screen be used from this machine as it is, from elsewhere with a token. */
export type SetupToken = {
  readonly text: string
  /** `given`: what the request carries, if anything. */
  admits(request: FastifyRequest, given: string | undefined): boolean
}

const TOKEN_BYTES = 24

/**
 * Derived from `SECRET_KEY` and kept nowhere, so that every process admits what any of them said.
 * It opens nothing once the site is set up.
 */
export function createSetupToken({ keyedHash }: Pick<Vault, 'keyedHash'>): SetupToken {
  const derived = Buffer.from(keyedHash('setup', SITE_STREAM), 'hex')
  const text = derived.toString('base64url', 0, TOKEN_BYTES)
  return {
    text,
    admits: (request, given) =>
      isFromThisMachine(request) || (given !== undefined && isSame(given, text)),
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6')

/**
 * The other end is this machine, speaks to it by a name of its own, and passes nobody else's
 * request on. NOTE: a page of another site can resolve its own name to 127.0.0.1, and a proxy on
 * this machine stands between; both show in the headers.
 */
function isFromThisMachine(request: FastifyRequest): boolean {
  const { headers } = request
  const isPassedOn = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  )
  return !isPassedOn && isLoopback(request.socket.remoteAddress ?? '') && isOwnName(request)
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function isOwnName(request: FastifyRequest): boolean {
  const url = `http://${request.headers.host ?? ''}`
  if (!URL.canParse(url)) return false
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || isLoopback(name)
}

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

import { createHash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SITE_STREAM } from '#domain/setup/events.ts'
import type { Vault } from '#infra/vault/port.ts'

/**
 * Decides who may use the setup screen. Requests from other machines must contain the token `text`.
 */
export type SetupToken = {
  readonly text: string
  /**
   * Reports whether the request may set up the site. `token` is the token in the request, if any.
   */
  accepts(request: FastifyRequest, token: string | undefined): boolean
}

const TOKEN_BYTES = 24

/**
 * Creates the setup token. The token is derived from `SECRET_KEY` and not stored, so each process
 * accepts the token that another process has printed. After the setup, the token has no effect.
 */
export function createSetupToken({ keyedHash }: Pick<Vault, 'keyedHash'>): SetupToken {
  const derived = Buffer.from(keyedHash('setup', SITE_STREAM), 'hex')
  const text = derived.toString('base64url', 0, TOKEN_BYTES)
  return {
    text,
    accepts: (request, token) =>
      isFromThisMachine(request) || (token !== undefined && isSame(token, text)),
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6')

/**
 * Reports whether a request comes from this machine, uses a local host name and has not passed
 * through a proxy. NOTE: a local IP address is not sufficient. A proxy may run on this machine, or
 * the host name of another site may resolve to 127.0.0.1. Request headers reveal both cases.
 */
function isFromThisMachine(request: FastifyRequest): boolean {
  const { headers } = request
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  )
  return !isForwarded && isLoopback(request.socket.remoteAddress ?? '') && isLocalName(request)
}

function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function isLocalName(request: FastifyRequest): boolean {
  const url = `http://${request.headers.host ?? ''}`
  if (!URL.canParse(url)) return false
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return name === 'localhost' || isLoopback(name)
}

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

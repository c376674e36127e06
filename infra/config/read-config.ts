import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Config, Role } from './config.ts'
import { ConfigError } from './config-error.ts'
import { enginesOf } from './read-engines.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ROLES: readonly Role[] = ['write-api', 'read-api', 'projections', 'relay', 'console']
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Parses the environment; an empty variable counts as not set. Throws `ConfigError`. */
export function readConfig(environment: Environment): Config {
  const read = (name: string): string | null => environment[name]?.trim() || null
  const host = read('HOST') ?? '127.0.0.1'
  const databaseUrl = databaseUrlOf(read('DATABASE_URL'))
  const secretKey = secretKeyOf(read('SECRET_KEY'))
  if (databaseUrl !== null && secretKey === null) {
    throw new ConfigError(
      'SECRET_KEY',
      'must be given together with DATABASE_URL: 32 random bytes as base64, ' +
        'for example from `openssl rand -base64 32`',
    )
  }
  return {
    port: portOf(read('PORT')),
    host,
    isLoopback: host === 'localhost' || host === '::1' || /^127\./.test(host),
    dataDir: resolve(read('DATA_DIR') ?? '.data'),
    databaseUrl,
    roles: rolesOf(read('ROLES')),
    secretKey,
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', LEVELS),
    trustProxy: listOf(read('TRUST_PROXY')).map((cidr) => cidrOf('TRUST_PROXY', cidr)),
    privateUpstreams: listOf(read('PRIVATE_UPSTREAMS')).map(privateUpstreamOf),
    metricsToken: read('METRICS_TOKEN'),
    stripeApiBase: stripeApiBaseOf(read('STRIPE_API_BASE')),
    ...enginesOf(read),
  }
}

function portOf(text: string | null): number {
  if (text === null) return 3000
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new ConfigError('PORT', `must be a whole number from 0 to 65535, not "${text}"`)
  }
  return port
}

function stripeApiBaseOf(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/') {
    throw new ConfigError('STRIPE_API_BASE', 'must look like https://host or http://127.0.0.1:4010')
  }
  return url.origin
}

function databaseUrlOf(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new ConfigError('DATABASE_URL', 'must look like postgres://user:password@host:5432/name')
  }
  return text
}

function secretKeyOf(text: string | null): Uint8Array | null {
  if (text === null) return null
  const bytes = Buffer.from(text, 'base64')
  if (
    bytes.length !== 32 ||
    bytes.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')
  ) {
    throw new ConfigError('SECRET_KEY', 'must be exactly 32 bytes, written as base64')
  }
  if (bytes.every((byte) => byte === bytes[0])) {
    throw new ConfigError('SECRET_KEY', 'must be random, not one byte repeated')
  }
  return bytes
}

function rolesOf(text: string | null): ReadonlySet<Role> {
  if (text === null) return new Set(ROLES)
  const roles = listOf(text).map((name) => oneOf('ROLES', name, ROLES))
  if (roles.length === 0) throw new ConfigError('ROLES', `must name some of ${ROLES.join(', ')}`)
  return new Set(roles)
}

function oneOf<T extends string>(variable: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === text)
  if (found === undefined) {
    throw new ConfigError(variable, `"${text}" is not one of ${allowed.join(', ')}`)
  }
  return found
}

const listOf = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

function cidrOf(variable: string, text: string): string {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  const bitsMax = family === 4 ? 32 : 128
  const isBitsGood = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  if (family === 0 || !isBitsGood) {
    throw new ConfigError(variable, `"${text}" is no address or CIDR, such as 10.0.0.0/8`)
  }
  return bits === undefined ? `${address}/${bitsMax}` : text
}

/** `10.0.5.0/24:8000`, `127.0.0.1:11434`, `[fd00::1]:80` or, for every port, `10.0.5.7`. */
function privateUpstreamOf(text: string): Config['privateUpstreams'][number] {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const port = match?.[3] === undefined ? null : Number(match[3])
  if (match === null || (port !== null && (port < 1 || port > 65_535))) {
    throw new ConfigError('PRIVATE_UPSTREAMS', `"${text}" must look like 10.0.5.0/24:8000`)
  }
  return { cidr: cidrOf('PRIVATE_UPSTREAMS', match[1] ?? match[2] ?? ''), port }
}

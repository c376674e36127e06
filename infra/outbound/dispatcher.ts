import { Agent, type Dispatcher, Pool } from 'undici'
import { guardedConnector, type Resolve } from './connector.ts'
import { type OutboundPolicy, portOf } from './guard.ts'

export type Outbound = {
  /**
   * For `undici.request(url, { dispatcher })`: any origin the policy allows. Refused connections
   * fail with `OutboundRefused`. Redirects are never followed. Send `accept-encoding: identity`.
   */
  readonly dispatcher: Dispatcher
  /** The connections to one origin (`https://host:port`), for paths that dispatch by themselves. */
  readonly poolFor: (origin: string) => Pool
  readonly close: () => Promise<void>
}

export type OutboundLimits = {
  readonly connectTimeoutMs: number
  /** 0: the caller watches the time itself. */
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** Bytes of an answer; -1: the caller watches the size itself. */
  readonly maxResponseBytes: number
}

/** For management calls; the relay has deadlines of its own. */
export const MANAGEMENT_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  maxResponseBytes: 20 * 1024 * 1024,
}

const CONNECTIONS_PER_ORIGIN = 4_096

/** Outgoing HTTP under one policy, enforced on every connection; no environment proxies. */
export function createOutbound(
  policy: OutboundPolicy,
  limits: OutboundLimits = MANAGEMENT_LIMITS,
  resolve?: Resolve,
): Outbound {
  const pools = new Map<string, Pool>()
  const openPool = (origin: string | URL): Pool => {
    const url = new URL(origin)
    return new Pool(url.origin, {
      connections: CONNECTIONS_PER_ORIGIN,
      pipelining: 1,
      allowH2: false,
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.bodyTimeoutMs,
      maxResponseSize: limits.maxResponseBytes,
      keepAliveTimeout: 30_000,
      connect: guardedConnector(policy, portOf(url), limits.connectTimeoutMs, resolve),
    })
  }
  const agent = new Agent({ factory: openPool })
  return {
    dispatcher: agent,
    poolFor: (origin) => {
      const known = pools.get(origin)
      if (known !== undefined) return known
      const pool = openPool(origin)
      pools.set(origin, pool)
      return pool
    },
    close: async () => {
      await Promise.all([agent.destroy(), ...[...pools.values()].map((pool) => pool.destroy())])
      pools.clear()
    },
  }
}

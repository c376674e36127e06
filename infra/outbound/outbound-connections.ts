import type { Socket } from 'node:net'
import { Agent, type buildConnector, type Dispatcher, Pool } from 'undici'
import { guardedConnector, type Resolve } from './guarded-connector.ts'
import { type OutboundPolicy, portOf } from './outbound-policy.ts'
import { proxyConnector } from './proxy-connector.ts'
import { withoutInterim } from './skip-interim-responses.ts'

export type Connections = {
  /**
   * The dispatcher for `undici.request(url, { dispatcher })`. Connections that the policy refuses
   * fail with `OutboundError`. Redirects are not followed. Requests should have `accept-encoding:
   * identity`.
   */
  readonly dispatcher: Dispatcher
  /** Returns the pool of one origin (`https://host:port`), for code that calls a pool directly. */
  readonly poolFor: (origin: string) => Pool
  /** Opens a connection to an origin, with TLS for `https:`. The caller must close it. */
  readonly connect: (origin: string) => Promise<Socket>
}

export type Outbound = Connections & {
  /**
   * Returns connections through a proxy (`http://user:password@host:port`), or direct connections
   * for null. If the proxy address is invalid, every connection fails. Call this method for each
   * request, because the pools of rarely used proxies are closed.
   */
  readonly via: (proxy: string | null) => Connections
  readonly close: () => Promise<void>
}

export type OutboundLimits = {
  readonly connectTimeoutMs: number
  /**
   * The time limit for the response headers in milliseconds. With 0, the caller must limit the
   * time.
   */
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** The maximum number of bytes of a response. With -1, the caller must limit the size. */
  readonly maxResponseBytes: number
}

/** The limits of calls from the management API. The relay applies its own deadlines. */
export const MANAGEMENT_LIMITS: OutboundLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  maxResponseBytes: 20 * 1024 * 1024,
}

const CONNECTIONS_PER_ORIGIN = 4_096
/**
 * The maximum number of proxies whose connection pools stay open. Proxies that were only tested
 * count too.
 */
const PROXIES_MAX = 256

/**
 * Creates outgoing HTTP connections. The policy decides which are allowed. Proxy settings in the
 * environment are ignored.
 */
export function createOutbound(
  policy: OutboundPolicy,
  limits: OutboundLimits = MANAGEMENT_LIMITS,
  resolve?: Resolve,
): Outbound {
  const timeoutMs = limits.connectTimeoutMs
  const direct = openConnections(limits, (url) =>
    guardedConnector(policy, portOf(url), timeoutMs, resolve),
  )
  /** The connections by proxy. The least recently used proxy comes first. */
  const byProxy = new Map<string, ConnectionSet>()
  const retiring = new Set<ConnectionSet>()
  const through = (proxy: string): Connections => {
    const connections =
      byProxy.get(proxy) ??
      openConnections(limits, (url) => proxyConnector(policy, proxy, url, { timeoutMs, resolve }))
    byProxy.delete(proxy)
    byProxy.set(proxy, connections)
    const [oldest] = byProxy
    if (byProxy.size > PROXIES_MAX && oldest !== undefined) {
      byProxy.delete(oldest[0])
      retire(oldest[1])
    }
    return connections
  }
  const retire = (connections: ConnectionSet): void => {
    retiring.add(connections)
    connections.retire().finally(() => retiring.delete(connections))
  }
  return {
    ...direct,
    via: (proxy) => (proxy === null ? direct : through(proxy)),
    close: async () => {
      await Promise.all(
        [direct, ...byProxy.values(), ...retiring].map((connections) => connections.close()),
      )
      byProxy.clear()
    },
  }
}

type ConnectionSet = Connections &
  Pick<Outbound, 'close'> & {
    /** Closes the pools once the requests in progress have finished. Never rejects. */
    readonly retire: () => Promise<unknown>
  }

function openConnections(
  limits: OutboundLimits,
  connectorTo: (origin: URL) => buildConnector.connector,
): ConnectionSet {
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
      connect: withoutInterim(connectorTo(url)),
    })
  }
  const agent = new Agent({ factory: openPool })
  return {
    dispatcher: agent,
    poolFor: (origin) => {
      const existing = pools.get(origin)
      if (existing !== undefined) return existing
      const pool = openPool(origin)
      pools.set(origin, pool)
      return pool
    },
    connect: (origin) =>
      new Promise((resolve, reject) => {
        const url = new URL(origin)
        const { protocol, hostname, host, port } = url
        connectorTo(url)({ protocol, hostname, host, port }, (error, socket) =>
          error === null ? resolve(socket) : reject(error),
        )
      }),
    retire: () => Promise.allSettled([agent, ...pools.values()].map((each) => each.close())),
    close: async () => {
      await Promise.all([agent.destroy(), ...[...pools.values()].map((pool) => pool.destroy())])
      pools.clear()
    },
  }
}

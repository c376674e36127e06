import type { Socket } from 'node:net'
import { Agent, type buildConnector, type Dispatcher, Pool } from 'undici'
import { guardedConnector, type Resolve } from './guarded-connector.ts'
import { type OutboundPolicy, portOf } from './outbound-policy.ts'
import { proxyConnector } from './proxy-connector.ts'

export type Connections = {
  /**
   * The dispatcher for `undici.request(url, { dispatcher })`. Connections that the policy refuses
   * fail with `OutboundError`. Redirects are not followed. Requests should have `accept-encoding:
   * identity`.
   */
  readonly dispatcher: Dispatcher
  /** Returns the pool of one origin (`https://host:port`), for code that calls a pool directly. */
  readonly poolFor: (origin: string) => Pool
  /** Opens a connection to an origin, with TLS for `https:`. The caller must close the socket. */
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
 * Creates outgoing HTTP connections. The policy decides which connections are allowed. Proxy
 * settings in the environment are ignored.
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

const INTERIM = Buffer.from('HTTP/1.1 1')
const SWITCHING = Buffer.from('HTTP/1.1 101')
const HEAD_END = '\r\n\r\n'
const HEAD_BYTES_MAX = 16 * 1024
const REQUEST_HEAD = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/

/**
 * Makes a connector skip unrequested interim responses (1xx), as RFC 9110 (15.2) requires. undici
 * treats a `100 Continue` as a broken response. A 101 remains an error, because no request asks for
 * another protocol.
 */
const withoutInterim =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      skipInterim(socket)
      callback(null, socket)
    })

/**
 * Replaces `write` and `read` of the socket to drop interim responses. This works because undici
 * writes the head of a request as one string, and reads only by calling `read`.
 */
function skipInterim(socket: Socket): void {
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean
  const read = socket.read.bind(socket)
  let isHeadNext = false
  let held: Buffer = Buffer.alloc(0)
  socket.write = ((chunk: unknown, encoding?: unknown, callback?: unknown) => {
    if (typeof chunk === 'string' && REQUEST_HEAD.test(chunk)) isHeadNext = true
    return write(chunk, encoding, callback)
  }) as typeof socket.write
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null
    if (!isHeadNext || chunk === null) return chunk
    if (held.length === 0 && isFinal(chunk)) {
      isHeadNext = false
      return chunk
    }
    held = afterInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
    if (held.length < HEAD_BYTES_MAX && mayBeInterim(held)) return null
    const answer = held
    held = Buffer.alloc(0)
    isHeadNext = false
    return answer
  }
}

/**
 * Reports whether the status code is certainly not 1xx. This fast check is sufficient for nearly
 * all responses.
 */
const isFinal = (bytes: Buffer): boolean =>
  bytes.length >= INTERIM.length && bytes[INTERIM.length - 1] !== INTERIM[INTERIM.length - 1]

function afterInterim(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length >= SWITCHING.length && mayBeInterim(rest)) {
    const end = rest.indexOf(HEAD_END)
    if (end < 0) break
    rest = rest.subarray(end + HEAD_END.length)
  }
  return rest
}

/**
 * Reports whether the bytes may begin an interim response other than 101. This is also true while
 * the status code is incomplete.
 */
function mayBeInterim(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, INTERIM.length)
  if (!bytes.subarray(0, length).equals(INTERIM.subarray(0, length))) return false
  return !bytes.subarray(0, SWITCHING.length).equals(SWITCHING)
}

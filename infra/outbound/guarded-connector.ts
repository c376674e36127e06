import { type LookupAddress, lookup } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { OutboundError, type OutboundPolicy } from './outbound-policy.ts'

/** Resolves a host name to all of its addresses. */
export type Resolve = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

export const resolveByDns: Resolve = (hostname, callback) =>
  lookup(hostname, { all: true }, (error, addresses) => callback(error, addresses ?? []))

/**
 * Creates an undici connector that opens only allowed connections. All addresses of a host name
 * must be allowed. A literal address, which bypasses `lookup`, is checked before the connection is
 * opened. The address to which the socket is connected is checked again before the request is sent.
 */
export function guardedConnector(
  policy: OutboundPolicy,
  port: number,
  timeoutMs: number,
  resolve: Resolve = resolveByDns,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: guardedLookup(policy, port, resolve),
  })
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(hostname) !== 0 && !policy.isAddressAllowed(hostname, port)) {
      queueMicrotask(() => callback(new OutboundError(), null))
      return
    }
    connect({ ...options, hostname }, (...outcome) => {
      const [error, socket] = outcome
      if (error !== null || isReachedAllowed(socket, policy, port)) return callback(...outcome)
      socket.destroy()
      callback(new OutboundError(), null)
    })
  }
}

const isReachedAllowed = (socket: Socket | null, policy: OutboundPolicy, port: number): boolean =>
  socket?.remoteAddress !== undefined && policy.isAddressAllowed(socket.remoteAddress, port)

/**
 * Creates a `lookup` that returns the addresses of a host name. This `lookup` fails with
 * `OutboundError` unless all of the addresses are allowed.
 */
function guardedLookup(policy: OutboundPolicy, port: number, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      const isAllowed = addresses.every(({ address }) => policy.isAddressAllowed(address, port))
      const first = addresses[0]
      if (!isAllowed || first === undefined) return callback(new OutboundError(), '', 0)
      if (options.all === true) return callback(null, [...addresses])
      callback(null, first.address, first.family)
    })
  }
}

type SocketAddress = { readonly host: string; readonly port: number; readonly timeoutMs: number }

/**
 * Opens a socket for a protocol other than HTTP, with the checks of `guardedConnector`. The caller
 * must close the socket.
 */
export function openSocket(
  policy: OutboundPolicy,
  { host, port, timeoutMs }: SocketAddress,
  resolve: Resolve = resolveByDns,
): Promise<Socket> {
  const name = host.replace(/^\[|\]$/g, '')
  return new Promise((done, fail) => {
    if (isIP(name) !== 0 && !policy.isAddressAllowed(name, port)) return fail(new OutboundError())
    const socket = connect({ host: name, port, lookup: guardedLookup(policy, port, resolve) })
    const timer = setTimeout(() => socket.destroy(timedOut()), timeoutMs)
    // Without this listener, an error before the caller adds a listener would end the process.
    socket.on('error', (error) => {
      clearTimeout(timer)
      fail(error)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      if (isReachedAllowed(socket, policy, port)) return done(socket)
      socket.destroy()
      fail(new OutboundError())
    })
  })
}

const timedOut = (): Error =>
  Object.assign(new Error('the connection timed out'), { code: 'ETIMEDOUT' })

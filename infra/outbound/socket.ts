import { connect, isIP, type Socket } from 'node:net'
import { guardedLookup, isReachedAllowed, type Resolve, resolveByDns } from './connector.ts'
import { type OutboundPolicy, OutboundRefused } from './guard.ts'

type Where = { readonly host: string; readonly port: number; readonly timeoutMs: number }

/**
 * A connected socket for what does not speak HTTP, under the same checks as the connector's: the
 * literal, every address of a name, and the one that was reached. Whoever gets it closes it.
 */
export function openSocket(
  policy: OutboundPolicy,
  { host, port, timeoutMs }: Where,
  resolve: Resolve = resolveByDns,
): Promise<Socket> {
  const name = host.replace(/^\[|\]$/g, '')
  return new Promise((done, fail) => {
    if (isIP(name) !== 0 && !policy.isAddressAllowed(name, port)) return fail(new OutboundRefused())
    const socket = connect({ host: name, port, lookup: guardedLookup(policy, port, resolve) })
    const timer = setTimeout(() => socket.destroy(timedOut()), timeoutMs)
    // Kept for good: an error between here and its new owner would else end the process.
    socket.on('error', (error) => {
      clearTimeout(timer)
      fail(error)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      if (isReachedAllowed(socket, policy, port)) return done(socket)
      socket.destroy()
      fail(new OutboundRefused())
    })
  })
}

const timedOut = (): Error =>
  Object.assign(new Error('the connection took too long'), { code: 'ETIMEDOUT' })

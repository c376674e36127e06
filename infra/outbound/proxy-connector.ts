import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { proxyAddress } from '#domain/shared/mask-proxy-credentials.ts'
import { guardedConnector, type Resolve, resolveByDns } from './guarded-connector.ts'
import { checkUrl, OutboundError, type OutboundPolicy, portOf } from './outbound-policy.ts'

/** Thrown when the proxy fails. The message names neither the proxy nor the provider. */
export class ProxyFailed extends Error {
  readonly code = 'PROXY_FAILED'
  constructor(why: string) {
    super(why)
    this.name = 'ProxyFailed'
  }
}

const HEAD_BYTES_MAX = 16 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')

type Limits = { readonly timeoutMs: number; readonly resolve?: Resolve | undefined }

/**
 * Creates a connector that reaches `target` (an origin) through a proxy with CONNECT. The proxy
 * can't read TLS traffic. The policy must allow the connection to the proxy. The target is checked
 * only as text, because the proxy resolves its host name. If `proxy` is invalid, every connection
 * fails.
 */
export function proxyConnector(
  policy: OutboundPolicy,
  proxy: string,
  target: URL,
  { timeoutMs, resolve = resolveByDns }: Limits,
): buildConnector.connector {
  const address = proxyAddress(proxy)
  if (address === null)
    return rejecting(() => new ProxyFailed('the address of the proxy is invalid'))
  if (!checkUrl(target.origin, policy).isAllowed) return rejecting(() => new OutboundError())
  const { protocol, hostname, host, port } = new URL(address.origin)
  const at = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }
  const toProxy = guardedConnector(policy, portOf(new URL(address.origin)), timeoutMs, resolve)
  const toTarget = buildConnector({ timeout: timeoutMs, allowH2: false })
  const connectHead = connectRequest(`${target.hostname}:${portOf(target)}`, address.credentials)
  return (options, callback) => {
    toProxy(at, (error, socket) => {
      if (error !== null) return callback(unreached(error), null)
      openTunnel(socket, connectHead, timeoutMs, (failure) => {
        if (failure !== null) return callback(failure, null)
        if (target.protocol === 'http:') return callback(null, socket)
        toTarget({ ...options, httpSocket: socket }, callback)
      })
    })
  }
}

const unreached = (error: Error): Error =>
  error instanceof OutboundError ? error : new ProxyFailed('the proxy could not be reached')

const rejecting =
  (why: () => Error): buildConnector.connector =>
  (_options, callback) =>
    queueMicrotask(() => callback(why(), null))

function connectRequest(authority: string, login: string | null): string {
  const proof = login === null ? null : Buffer.from(login, 'utf8').toString('base64')
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`]
  if (proof !== null) lines.push(`Proxy-Authorization: Basic ${proof}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/**
 * Sends CONNECT to the proxy. The response is limited in size and must arrive within `timeoutMs`
 * milliseconds.
 */
function openTunnel(
  socket: Socket,
  connectHead: string,
  timeoutMs: number,
  done: (error: Error | null) => void,
): void {
  let head = Buffer.alloc(0)
  const timer = setTimeout(
    () => end(new ProxyFailed('the proxy did not answer in time')),
    timeoutMs,
  )
  const end = (error: Error | null, rest?: Buffer): void => {
    clearTimeout(timer)
    socket.off('data', onData).off('error', onGone).off('close', onGone).off('end', onGone)
    socket.pause()
    if (error !== null) socket.destroy()
    else if (rest !== undefined && rest.length > 0) socket.unshift(rest)
    done(error)
  }
  const onGone = (): void => end(new ProxyFailed('the proxy closed the connection'))
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const at = head.indexOf(HEAD_END)
    if (at < 0) {
      if (head.length > HEAD_BYTES_MAX)
        end(new ProxyFailed('the answer of the proxy is not valid HTTP'))
      return
    }
    const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, at)) ?? []
    if (status?.startsWith('2')) return end(null, head.subarray(at + HEAD_END.length))
    end(new ProxyFailed(`the proxy refused the connection (${status ?? 'no status'})`))
  }
  socket.on('data', onData).on('error', onGone).on('close', onGone).on('end', onGone)
  socket.write(connectHead)
}

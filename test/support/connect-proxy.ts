import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export type ConnectProxy = {
  readonly url: string
  /** Returns the proxy's URL with a user and password, which the proxy does not check. */
  readonly urlOf: (login: string) => string
  /** The received requests, as `CONNECT host:port` or another request line. */
  readonly requests: { readonly line: string; readonly login: string | undefined }[]
  /** Host names that only the proxy can resolve, each with a port on this machine. */
  readonly names: Map<string, number>
  /**
   * The response to a CONNECT request: a tunnel (`carry`), nothing (`silence`), a status or a raw
   * text.
   */
  answer: 'carry' | 'silence' | number | { readonly text: string }
  readonly close: () => Promise<void>
}

/** An HTTP proxy that supports CONNECT and records its requests. */
export async function connectProxy(): Promise<ConnectProxy> {
  const open = new Set<Socket>()
  const requests: ConnectProxy['requests'] = []
  const names = new Map<string, number>()
  const noted = ({ method, url, headers }: IncomingMessage): void => {
    requests.push({ line: `${method} ${url}`, login: headers['proxy-authorization'] })
  }
  const server = createServer((request, response) => {
    noted(request)
    response.writeHead(405).end()
  })
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
  })
  server.on('connect', (request, socket: Socket) => {
    noted(request)
    const { answer } = proxy
    if (answer === 'silence') return
    if (typeof answer === 'object') return socket.end(answer.text)
    if (answer !== 'carry') return socket.end(`HTTP/1.1 ${answer} No\r\ncontent-length: 0\r\n\r\n`)
    const { hostname, port } = new URL(`http://${request.url}`)
    const upstream = connect(names.get(hostname) ?? Number(port || 80), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    open.add(upstream)
    upstream.on('error', () => socket.destroy()).on('close', () => open.delete(upstream))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${port}`,
    urlOf: (login) => `http://${login}@127.0.0.1:${port}`,
    requests,
    names,
    answer: 'carry',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
  return proxy
}

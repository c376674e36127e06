import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export type ConnectProxy = {
  readonly url: string
  /** The URL with a user and password, which it does not ask for. */
  readonly urlOf: (login: string) => string
  /** What it was asked for: `CONNECT host:port`, or any other request. */
  readonly requests: { readonly line: string; readonly login: string | undefined }[]
  /** Names that it alone knows, each with the port on this machine. */
  readonly names: Map<string, number>
  /** Carries; or answers a status, a text as it stands, or nothing at all. */
  answer: 'carry' | 'silence' | number | { readonly text: string }
  readonly close: () => Promise<void>
}

/** A proxy as operators run them: it takes CONNECT, and keeps a journal. */
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

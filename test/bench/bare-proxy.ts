import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, Pool } from 'undici'

/** The minimum that a Node relay can do: forwards a response with undici and node:http. */
class HandOn implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { connection: _c, 'keep-alive': _k, 'transfer-encoding': _t, ...rest } = headers
    this.#response.writeHead(status, rest)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    if (this.#response.headersSent) this.#response.destroy()
    else this.#response.writeHead(502).end()
  }
}

const upstream = new Pool(process.argv[2] ?? '', { connections: 4096, pipelining: 1 })
const server = createServer((request, response) => {
  upstream.dispatch(
    {
      path: request.url ?? '/',
      method: 'POST',
      headers: {
        'content-type': request.headers['content-type'] ?? '',
        'content-length': request.headers['content-length'] ?? '0',
        authorization: 'Bearer sk-upstream',
      },
      body: request,
    },
    new HandOn(response),
  )
})
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

import { type Answer, LoadConnection } from './load-connection.ts'

/** Each key gets a connection, which sends its next request after each response. */
export type LoadOrder = { readonly url: string; readonly keys: readonly string[] }
/** The responses since the last order. */
export type LoadCount = {
  readonly count: number
  readonly errors: number
  /** The errors by HTTP status. 0 counts broken connections. */
  readonly kinds: Readonly<Record<string, number>>
}

/** The load generator is a separate process, so that it can be suspended. */
let order = nothing()

process.on('message', (message: LoadOrder | 'count' | 'rest') => {
  if (message === 'count') {
    process.send?.({ ...order.counted } satisfies LoadCount)
    return
  }
  for (const connection of order.connections) connection.close()
  order = message === 'rest' ? nothing() : start(message)
})

type Counted = { count: number; errors: number; readonly kinds: Record<string, number> }
type Order = { readonly counted: Counted; readonly connections: readonly LoadConnection[] }

/** Each order has a separate count, so that late responses to an earlier order are not counted. */
function nothing(): Order {
  return { counted: { count: 0, errors: 0, kinds: {} }, connections: [] }
}

function start({ url, keys }: LoadOrder): Order {
  const { hostname, port } = new URL(url)
  const connections: LoadConnection[] = []
  const { counted } = nothing()
  for (const key of keys) {
    const connection = new LoadConnection(hostname, Number(port))
    connections.push(connection)
    const request = requestOf(hostname, key)
    const next = (): void => {
      connection.send(request, (answer: Answer) => {
        count(counted, answer)
        setImmediate(next)
      })
    }
    next()
  }
  return { counted, connections }
}

function count(counted: Counted, { isGood, status }: Answer): void {
  if (isGood) {
    counted.count += 1
    return
  }
  counted.errors += 1
  counted.kinds[status] = (counted.kinds[status] ?? 0) + 1
}

function requestOf(host: string, key: string): Buffer {
  const text = 'Explain in plain words how a gateway accounts for every call that it relays. '
  const body = JSON.stringify({
    model: 'sim-small',
    messages: [{ role: 'user', content: text.repeat(11) }],
    max_tokens: 20,
  })
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

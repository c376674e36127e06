import { type Answer, LoadConnection } from './load-connection.ts'

/** What the load is to do: every connection calls with its own key, as fast as it is answered. */
export type LoadOrder = { readonly url: string; readonly keys: readonly string[] }
/** What was answered since the order, as often as it is asked. */
export type LoadCount = { readonly count: number; readonly errors: number }

/** A load generator as a process of its own, so that it can be stopped while others run. */
let isOrdered = 0
const counted = { count: 0, errors: 0 }

process.on('message', (message: LoadOrder | 'count' | 'rest') => {
  if (message === 'count') process.send?.({ ...counted } satisfies LoadCount)
  else if (message === 'rest') isOrdered += 1
  else start(message)
})

function start({ url, keys }: LoadOrder): void {
  isOrdered += 1
  const order = isOrdered
  counted.count = 0
  counted.errors = 0
  const { hostname, port } = new URL(url)
  for (const key of keys) {
    const connection = new LoadConnection(hostname, Number(port))
    const request = requestOf(hostname, key)
    const next = (): void => {
      if (order !== isOrdered) return connection.close()
      connection.send(request, (answer: Answer) => {
        if (answer.isGood) counted.count += 1
        else counted.errors += 1
        setImmediate(next)
      })
    }
    next()
  }
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

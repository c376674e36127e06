import { request as httpRequest } from 'node:http'

/**
 * Sends large bodies to a relay from a process of its own, six at once: its work is not done on the
 * loop that measures a neighbour. `argv`: address, key, model, bodies, the least ms of a round.
 */
const AT_ONCE = 6
const [url = '', key = '', model = '', bodies = '0', roundMs = '0'] = process.argv.slice(2)

const bodyOf = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content }] }))
const LARGE = bodyOf('a b '.repeat(7_000_000))
const SLOW = bodyOf('的'.repeat(399_000))

/** The status; 0 where the connection broke because the answer came before the body was sent. */
function post(body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
    const call = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': body.length },
    })
    call.on('error', () => resolve(0))
    call.on('response', (response) => {
      response.resume()
      response.on('error', () => resolve(0))
      response.on('end', () => {
        call.destroy()
        resolve(response.statusCode ?? 0)
      })
    })
    call.end(body)
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const statuses: number[] = []
while (statuses.length < Number(bodies)) {
  const round = Array.from({ length: AT_ONCE }, (_, at) => post(at === 0 ? SLOW : LARGE))
  statuses.push(
    ...((await Promise.all([...round, pause(Number(roundMs))])).slice(0, AT_ONCE) as number[]),
  )
}
process.send?.(statuses)

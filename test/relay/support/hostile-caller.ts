import { request as httpRequest } from 'node:http'

/**
 * Sends large bodies to a relay from a separate process, which does not slow down the measuring
 * process.
 * `argv`: URL, key, model, number of bodies, concurrent bodies, minimum ms of a round, and `stream`
 * to close each stream after its first bytes.
 */
const [url = '', key = '', model = '', bodies = '0', atOnce = '0', roundMs = '0', kind = ''] =
  process.argv.slice(2)
const stream = kind === 'stream'

const bodyOf = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }))
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
      const end = (): void => {
        call.destroy()
        resolve(response.statusCode ?? 0)
      }
      response.on('error', () => resolve(0))
      response.on('end', end)
      response.on('data', () => {
        if (stream) end()
      })
    })
    call.end(body)
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const statuses: number[] = []
while (statuses.length < Number(bodies)) {
  const round = Array.from({ length: Number(atOnce) }, (_, at) => post(at === 0 ? SLOW : LARGE))
  const [answers] = await Promise.all([Promise.all(round), pause(Number(roundMs))])
  statuses.push(...answers)
}
process.send?.(statuses)

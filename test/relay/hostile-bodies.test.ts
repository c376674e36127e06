import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { RICH_KEY, UNPAID_KEY } from './support/attacked-keys.ts'

/** The whole attack is 1 000 bodies: `HOSTILE_BODIES=1000`, some minutes. */
const BODIES = Number(process.env.HOSTILE_BODIES ?? 30)
const AT_ONCE = 6
// A quiet machine stays below 150; other tests of this process tree share its memory figures.
const GROWTH_MB_MAX = 250
/** Beyond the 10 %: other tests run on the same cores. */
const SLACK_MS = 600

let relay: ChildProcess | null = null
afterEach(() => {
  relay?.kill('SIGKILL')
})

type Relay = { readonly url: string; readonly process: ChildProcess }

async function start(): Promise<Relay> {
  relay = fork(join(import.meta.dirname, 'support/attacked-relay.ts'), { execArgv: [] })
  const [url] = (await once(relay, 'message')) as [string]
  return { url, process: relay }
}

function rssMb({ process: { pid } }: Relay): number {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

const bodyOf = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ model: 'fault-nousage', messages: [{ role: 'user', content }] }))

/** The status; 0 where the connection broke because the answer came before the body was sent. */
function post({ url }: Relay, key: string, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
    const call = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    })
    call.on('error', () => resolve(0))
    call.on('response', (response) => {
      response.resume()
      response.on('error', () => resolve(0))
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    call.end(body)
  })
}

async function timed(relay: Relay, body: Buffer): Promise<number> {
  const startedAt = performance.now()
  expect(await post(relay, RICH_KEY, body)).toBe(200)
  return performance.now() - startedAt
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0

const LARGE = bodyOf('a b '.repeat(7_000_000))
const SLOW = bodyOf('的'.repeat(399_000))
const NEIGHBOURS = bodyOf('What is the capital of France, and of Germany? '.repeat(40))

async function attack(relay: Relay): Promise<number[]> {
  const statuses: number[] = []
  for (let sent = 0; sent < BODIES; sent += AT_ONCE) {
    const round = Array.from({ length: AT_ONCE }, (_, at) =>
      post(relay, UNPAID_KEY, at === 0 ? SLOW : LARGE),
    )
    statuses.push(...(await Promise.all(round)))
  }
  return statuses
}

it('large bodies of a user who can not pay cost little memory and no neighbour time', async () => {
  const relay = await start()
  const alone: number[] = []
  for (let call = 0; call < 4; call += 1) alone.push(await timed(relay, NEIGHBOURS))
  const before = rssMb(relay)
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, rssMb(relay))
  }, 20)
  let isOver = false
  const attacking = attack(relay).finally(() => {
    isOver = true
  })
  const meanwhile: number[] = []
  while (!isOver) meanwhile.push(await timed(relay, NEIGHBOURS))
  const statuses = await attacking
  clearInterval(sampling)
  relay.process.send('charges')
  const [charges] = (await once(relay.process, 'message')) as [number[]]
  const counts = Object.groupBy(statuses, String)
  const answers = Object.entries(counts).map(([status, all]) => `${all?.length} × ${status}`)
  const times = [alone, meanwhile].map((values) => `${median(values).toFixed(0)} ms`)
  console.info(
    `RSS ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB through ${BODIES} bodies ` +
      `(${answers.join(', ')}); a neighbour’s call ${times.join(' alone, ')} meanwhile`,
  )
  expect(statuses.filter((status) => ![0, 402, 429].includes(status))).toEqual([])
  expect(statuses).toContain(402)
  expect(most - before).toBeLessThan(GROWTH_MB_MAX)
  expect(median(meanwhile)).toBeLessThan(median(alone) * 1.1 + SLACK_MS)
  // The first of them may have been counted before the vocabulary was there.
  expect(new Set(charges.slice(1)).size).toBe(1)
}, 600_000)

import { type IncomingMessage, request, request as send } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { LiveMessage } from '#read-api/contract/live-messages.ts'
import {
  type ProviderProcess,
  type Site,
  startProviderProcess,
  startSite,
} from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, chat, PASSWORD, setOption } from '#test/support/test-product.ts'
import { type LocalServer, serve } from '../support/start-http-server.ts'

/** Forwards each request to the URL that `choose` returns. */
async function startLoadBalancer(
  choose: (request: IncomingMessage) => string,
): Promise<LocalServer> {
  return serve((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = send(`${choose(incoming)}${url}`, { method, headers }, (answer) => {
      // These headers are about the connection to the server. A client that read the server's
      // keep-alive time of 72 s would reuse a connection that this balancer closes after 5 s.
      const { connection: _, 'keep-alive': __, ...passedOn } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, passedOn)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
}

/** Returns a function that returns the URLs in rotation. */
function inTurn(urls: readonly string[]): () => string {
  let turn = 0
  return () => {
    turn += 1
    return urls[turn % urls.length] ?? ''
  }
}

/** Every role runs in a separate process. The write-api and the read-api run twice. */
let site: Site
let provider: ProviderProcess
let writers: [ProductProcess, ProductProcess]
let readers: [ProductProcess, ProductProcess]
let relay: ProductProcess
let projector: ProductProcess
let pages: ProductProcess
let front: Awaited<ReturnType<typeof startLoadBalancer>>
let root: ConsoleClient
const sockets: WebSocket[] = []

beforeAll(async () => {
  ;[site, provider] = await Promise.all([
    startSite(),
    startProviderProcess({ firstByteMs: 0, gapMs: 0, answerTokens: 10 }),
  ])
  // All processes start at the same time on a site that has only its tables.
  const start = (roles: string) => site.start(roles, { METRICS_TOKEN: 'scraper' })
  const [one, two, three, four, five, six, seven] = await Promise.all([
    start('write-api'),
    start('write-api'),
    start('read-api'),
    start('read-api'),
    start('relay'),
    start('console'),
    start('projections'),
  ])
  writers = [one, two]
  readers = [three, four]
  ;[relay, pages, projector] = [five, six, seven]
  const writer = inTurn(writers.map(({ url }) => url))
  const reader = inTurn(readers.map(({ url }) => url))
  front = await startLoadBalancer(({ method, url = '' }) => {
    if (url.startsWith('/v1/')) return relay.url
    return method === 'GET' && url !== '/api/user/logout' ? reader() : writer()
  })
  root = new ConsoleClient(front.url)
})

afterAll(async () => {
  for (const socket of sockets) socket.terminate()
  await front?.close()
  await site?.close()
  provider?.close()
})

const everybody = () => [...writers, ...readers, relay, pages, projector]

describe('processes with different roles', () => {
  const get = async ({ url }: ProductProcess, path: string) => {
    const answer = await fetch(url + path, { headers: { 'accept-language': 'en' } })
    return { status: answer.status, text: await answer.text() }
  }

  it('a process is alive and ready and has metrics, whatever its roles are', async () => {
    for (const one of everybody()) {
      expect(await get(one, '/livez')).toEqual({ status: 200, text: 'ok\n' })
      expect(await get(one, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
      const headers = { authorization: 'Bearer scraper' }
      const metrics = await fetch(`${one.url}/metrics`, { headers })
      expect(await metrics.text()).toContain('tallygate_event_store_position')
    }
  })

  it('a process without the API answers 404 in the envelope below /api', async () => {
    for (const one of [relay, pages, projector, ...writers]) {
      const { status, text } = await get(one, '/api/status')
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({ success: false, code: 'NoSuchRoute', data: null })
    }
    const answer = await fetch(`${readers[0].url}/api/token/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ success: false, code: 'NoSuchRoute' })
  })

  it('a process without the relay answers 404 in OpenAI’s format below /v1', async () => {
    for (const one of everybody().filter((other) => other !== relay)) {
      const { status, text } = await get(one, '/v1/models')
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } })
    }
    expect((await get(relay, '/v1/models')).status).toBe(401)
  })

  it('only the process with the console role serves pages', async () => {
    expect((await get(pages, '/')).text).toContain('<div id="root">')
    expect((await get(relay, '/')).status).toBe(404)
  })
})

describe('the first run', () => {
  const tokenOf = ({ output }: ProductProcess) => /token=([\w-]{32})/.exec(output)?.[1] ?? 'none'

  it('has one setup token, which only the processes that accept it print', async () => {
    for (const one of writers) await expect.poll(() => one.output).toContain('token=')
    expect(tokenOf(writers[0])).toBe(tokenOf(writers[1]))
    for (const one of [...readers, relay, pages, projector]) expect(tokenOf(one)).toBe('none')
    const token = tokenOf(writers[0])
    const wrong = await postFromAfar(writers[1], '/api/setup', { 'x-setup-token': 'x'.repeat(32) })
    expect(wrong).toMatchObject({ code: 'SetupTokenRequired' })
    // The correct token is accepted. The form is then refused because the passwords differ.
    const right = await postFromAfar(writers[1], '/api/setup', { 'x-setup-token': token })
    expect(right).toMatchObject({ success: false, code: 'PasswordsDiffer' })
  })

  it('creates one super admin when fifty requests reach two processes at once', async () => {
    const form = { password: PASSWORD, confirmPassword: PASSWORD }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        new ConsoleClient(writers[n % 2]?.url ?? '').call('POST', '/api/setup', {
          username: `root${n}`,
          ...form,
        }),
      ),
    )
    const winners = answers.flatMap(({ success }, n) => (success ? [n] : []))
    expect(winners).toHaveLength(1)
    const codes = answers.filter(({ success }) => !success).map(({ code }) => code)
    expect(new Set(codes)).toEqual(new Set(['AlreadyInitialized']))
    expect(await root.logIn(`root${winners[0]}`, PASSWORD)).toBe(1)
    expect((await list('/api/user/')).map(({ id }) => id)).toEqual([1])
  })
})

describe('fifty creations at once over two processes', () => {
  it.each([
    ['users', '/api/user/', (n: number) => ({ username: `user${n}`, password: PASSWORD })],
    ['tokens', '/api/token/', (n: number) => ({ name: `token${n}`, unlimited_quota: true })],
  ])(
    '%s get dense ids, each id once, and none is lost',
    async (_name, path, body) => {
      const before = (await list(path)).length
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => root.call('POST', path, body(n))),
      )
      expect(answers.filter(({ success }) => !success)).toEqual([])
      // The responses arrived after the read models of every process included the new rows.
      const ids = (await list(path)).map(({ id }) => id).sort((a, b) => a - b)
      expect(ids).toEqual(Array.from({ length: before + 50 }, (_, n) => n + 1))
    },
    60_000,
  )

  it('fifty requests for one name create one user', async () => {
    const same = { username: 'wanted', password: PASSWORD }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => root.call('POST', '/api/user/', same)),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
  })
})

describe('changes that one process makes', () => {
  let key = ''

  it('the relay serves a call with a new key, price and channel', async () => {
    await setOption(root, 'ModelPrice', { 'sim-small': 0.002 })
    await addChannel({ root, provider }, { models: 'sim-small' })
    const owner = new ConsoleClient(front.url)
    await owner.logIn('wanted', PASSWORD)
    const { items } = await root.must<{ items: { id: number }[] }>(
      'GET',
      '/api/user/search?keyword=wanted',
    )
    await root.must('PUT', '/api/user/', { id: items[0]?.id, quota: 100_000 })
    key = (await owner.createToken({ name: 'own', unlimited_quota: true })).key
    const status = async () => (await chat(front.url, key, { model: 'sim-small' })).status
    await expect.poll(status).toBe(200)
  })

  it('live sockets on any read-api show the calls of all users', async () => {
    const seen = await Promise.all(readers.map(({ url }) => watchLogs(url)))
    const { requestId } = await chat(front.url, key, { model: 'sim-small' })
    for (const messages of seen) {
      await expect
        .poll(() => messages.filter((message) => JSON.stringify(message).includes(requestId)))
        .toHaveLength(1)
    }
  })

  it('a token that one process disables is refused by the relay within a second', async () => {
    const owner = new ConsoleClient(front.url)
    await owner.logIn('wanted', PASSWORD)
    const { items } = await owner.must<{ items: { id: number }[] }>('GET', '/api/token/?p=0')
    await owner.must('DELETE', `/api/token/${items[0]?.id}`)
    await expect
      .poll(async () => (await chat(front.url, key, { model: 'sim-small' })).status, {
        timeout: 1_000,
      })
      .toBe(401)
  })

  it('no process shows texts of a user whom another process has erased', async () => {
    const username = 'forgotten'
    const { id } = await root.must<{ id: number }>('POST', '/api/user/', {
      ...{ username, password: PASSWORD },
    })
    await root.must('PUT', '/api/user/', { id, quota: 700, reason: 'reason to forget' })
    const ledgers = () =>
      Promise.all(
        readers.map(async ({ url }) => {
          const headers = root.sessionHeaders
          return await (await fetch(`${url}/api/audit/ledger/${id}`, { headers })).text()
        }),
      )
    for (const text of await ledgers()) expect(text).toContain('reason to forget')
    await root.must('POST', '/api/user/erase', { id, username })
    for (const text of await ledgers()) {
      expect(text).toContain('"is_note_erased":true')
      expect(text).not.toContain('forget')
    }
  })

  it('a session that one process ends is refused by all processes', async () => {
    await root.must('GET', '/api/user/logout')
    for (const { url } of readers) {
      const answer = await fetch(`${url}/api/user/self`, { headers: root.sessionHeaders })
      expect(answer.status).toBe(401)
    }
  })
})

describe('SIGTERM', () => {
  it('ends every process with exit code 0', async () => {
    expect(await Promise.all(everybody().map((one) => one.stop()))).toEqual(Array(7).fill(0))
  })
})

async function list(path: string): Promise<{ id: number }[]> {
  const found: { id: number }[] = []
  for (let page = 0; ; page += 1) {
    const { items } = await root.must<{ items: { id: number }[] }>(
      'GET',
      `${path}?p=${page}&page_size=100`,
    )
    found.push(...items)
    if (items.length < 100) return found
  }
}

async function watchLogs(url: string): Promise<LiveMessage[]> {
  const seen: LiveMessage[] = []
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, {
    headers: { ...root.sessionHeaders, origin: url },
  })
  sockets.push(socket)
  socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', topics: ['logs'] })))
  socket.on('message', (bytes) => seen.push(JSON.parse(String(bytes)) as LiveMessage))
  await expect.poll(() => seen.some(({ type }) => type === 'ready')).toBe(true)
  return seen
}

/**
 * Simulates a request from another machine by a foreign `Host` header, which `fetch` cannot send.
 */
function postFromAfar(
  { url }: ProductProcess,
  path: string,
  more: Record<string, string>,
): Promise<{ success: boolean; code?: string }> {
  const body = JSON.stringify({ username: 'x', password: PASSWORD, confirmPassword: 'other' })
  const headers = {
    host: 'tallygate.example',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...more,
  }
  return new Promise((answered, failed) => {
    const sent = request(url + path, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.on('data', (bytes) => {
        text += bytes
      })
      answer.on('end', () => answered(JSON.parse(text)))
    })
    sent.on('error', failed)
    sent.end(body)
  })
}

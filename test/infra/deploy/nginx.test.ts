import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const CONF = resolve(import.meta.dirname, '../../../infra/deploy/nginx.conf')
const PARTS = ['relay', 'write-api', 'read-api', 'console'] as const
const hasNginx = spawnSync('nginx', ['-v']).status === 0

const portOf = (server: Server): number => (server.address() as AddressInfo).port

async function listening(answer: string): Promise<Server> {
  const server = createServer((_request, response) => response.end(answer))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

async function freePort(): Promise<number> {
  const server = await listening('')
  const port = portOf(server)
  await new Promise((done) => server.close(done))
  return port
}

/**
 * Returns the nginx configuration with the host names, ports and resolver of the container network
 * replaced by those of this machine.
 */
function onThisMachine(
  text: string,
  ports: ReadonlyMap<string, number>,
  { front, status }: { readonly front: number; readonly status: number },
): string {
  return text
    .replace(/^\s*resolver .*$/m, '')
    .replace(/server ([\w-]+):3000 resolve/g, (_all, part: string) => {
      return `server 127.0.0.1:${ports.get(part)}`
    })
    .replace('listen 8080', `listen 127.0.0.1:${front}`)
    .replace(/listen 127\.0\.0\.1:8081;/, `listen 127.0.0.1:${status};`)
}

describe.skipIf(!hasNginx)('a real nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'))
  const conf = join(folder, 'nginx.conf')
  const servers: Server[] = []
  let nginx: ChildProcess
  let url = ''

  beforeAll(async () => {
    const ports = new Map<string, number>()
    for (const part of PARTS) {
      const server = await listening(part)
      server.on('upgrade', (_request, socket) => {
        socket.end(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
        )
      })
      servers.push(server)
      ports.set(part, portOf(server))
    }
    // nginx ends when another program has taken one of its ports in the meantime, so the start is
    // retried.
    await vi.waitFor(() => start(ports), { timeout: 30_000, interval: 50 })
  })

  async function start(ports: ReadonlyMap<string, number>): Promise<void> {
    const front = await freePort()
    url = `http://127.0.0.1:${front}`
    const configured = onThisMachine(readFileSync(CONF, 'utf8'), ports, {
      front,
      status: await freePort(),
    })
    const own = configured.replace('/tmp/nginx.pid', join(folder, 'nginx.pid'))
    // Standard error is a pipe here, which nginx can't open by name.
    writeFileSync(conf, own.replace('/dev/stderr', join(folder, 'error.log')))
    nginx = spawn('nginx', ['-p', folder, '-c', conf, '-g', 'daemon off;'], { stdio: 'ignore' })
    const ended = once(nginx, 'exit').then(() => Promise.reject(new Error('nginx ended')))
    ended.catch(() => {})
    const answering = vi.waitFor(() => fetch(url), { timeout: 15_000, interval: 50 })
    answering.catch(() => {})
    await Promise.race([answering, ended])
  }
  afterAll(async () => {
    if (nginx.exitCode === null) {
      const ended = new Promise((done) => nginx.once('exit', done))
      nginx.kill('SIGTERM')
      await ended
    }
    for (const server of servers) server.closeAllConnections()
    for (const server of servers) await new Promise((done) => server.close(done))
    rmSync(folder, { recursive: true })
  })

  it('accepts the configuration file', () => {
    const checked = spawnSync('nginx', ['-t', '-p', folder, '-c', conf], { encoding: 'utf8' })
    expect(checked.stderr).toContain('test is successful')
    expect(checked.status).toBe(0)
  })

  it.each([
    ['POST', '/v1/chat/completions', 'relay'],
    ['GET', '/v1beta/models', 'relay'],
    ['POST', '/v1beta/models/gemini-2.5-pro:generateContent', 'relay'],
    ['GET', '/v1beta', 'relay'],
    ['GET', '/v1betas/models', 'console'],
    ['POST', '/pg/chat/completions', 'relay'],
    ['POST', '/v2/rerank', 'relay'],
    ['POST', '/rerank?x=1', 'relay'],
    ['GET', '/reranks', 'console'],
    ['POST', '/mj/submit/imagine', 'relay'],
    ['POST', '/mj-fast/mj/submit/imagine', 'relay'],
    ['GET', '/mj/image/7', 'relay'],
    ['POST', '/suno/submit/music', 'relay'],
    ['GET', '/v1/dashboard/billing/usage?start_date=a', 'relay'],
    ['GET', '/dashboard/billing/subscription', 'relay'],
    ['GET', '/api/usage/token/', 'relay'],
    ['GET', '/api/usage/tokens', 'read-api'],
    ['GET', '/models', 'relay'],
    ['POST', '/upload/v1beta/files', 'relay'],
    ['GET', '/api/channel/types', 'relay'],
    ['GET', '/api/channel/test', 'relay'],
    ['GET', '/api/channel/test/7?model=a', 'relay'],
    ['GET', '/api/channel/test/progress', 'relay'],
    ['GET', '/api/channel/fetch_models/7', 'relay'],
    ['POST', '/api/channel/fetch_models', 'relay'],
    ['GET', '/api/channel/update_balance', 'relay'],
    ['GET', '/api/channel/update_balance/7/', 'relay'],
    ['GET', '/api/channel/', 'read-api'],
    ['GET', '/api/channel/7', 'read-api'],
    ['GET', '/api/channel/tests', 'read-api'],
    ['GET', '/api/channel/health', 'read-api'],
    ['GET', '/api/channel/7/health_history?range=7d', 'read-api'],
    ['PUT', '/api/channel/', 'write-api'],
    ['DELETE', '/api/channel/7/', 'write-api'],
    ['GET', '/api/user/logout', 'write-api'],
    ['GET', '/api/user/token', 'write-api'],
    ['GET', '/api/live', 'read-api'],
    ['GET', '/channels', 'console'],
  ])('%s %s is answered by %s', async (method, path, part) => {
    const response = await fetch(`${url}${path}`, { method })
    expect(await response.text()).toBe(part)
  })

  it('forwards the upgrade of a request to a websocket', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const asking = request(`${url}/v1/responses`, { headers })
    asking.on('error', () => {})
    asking.end()
    await once(asking, 'upgrade')
    asking.destroy()
  })

  const internalPaths = ['/livez', '/startupz', '/readyz', '/metrics']
  it.each(internalPaths)('%s is not reachable from outside', async (path) => {
    expect((await fetch(`${url}${path}`)).status).toBe(404)
  })

  it('refuses a body that is too large in the format of the requested API', async () => {
    const refused = async (path: string) => {
      const headers = { 'accept-language': 'en', 'content-length': 999_999_999 }
      const asking = request(`${url}${path}`, { method: 'POST', headers })
      asking.on('error', () => {})
      asking.flushHeaders()
      const [response] = (await once(asking, 'response')) as [IncomingMessage]
      const body = JSON.parse(await text(response)) as { code?: string; error?: { code: string } }
      asking.destroy()
      return { status: response.statusCode, body }
    }
    for (const path of ['/v1/chat/completions', '/v1beta/models', '/mj/submit/imagine']) {
      const { status, body } = await refused(path)
      expect([path, status, body.error?.code]).toEqual([path, 413, 'request_too_large'])
    }
    const others = ['/', '/tokens', '/livez', '/metrics']
    for (const path of ['/api/option/', '/api/channel/fetch_models', ...others]) {
      const { status, body } = await refused(path)
      expect([path, status, body.code]).toEqual([path, 413, 'TooLarge'])
    }
  })

  it('reports an unavailable server in its own format and the caller’s language', async () => {
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
    const ask = async (path: string, language: string) => {
      const response = await fetch(`${url}${path}`, { headers: { 'accept-language': language } })
      return { status: response.status, body: await response.text() }
    }
    const busy = { zh: '服务繁忙，请稍后再试', en: 'The service is busy, please try again later' }
    for (const language of ['zh', 'en'] as const) {
      for (const path of ['/api/user/self', '/api/channel/types', '/api/user/logout']) {
        const { status, body } = await ask(path, language)
        expect([path, status]).toEqual([path, 503])
        expect(JSON.parse(body)).toMatchObject({ success: false, message: busy[language] })
      }
      const page = await ask('/app/tokens', language)
      expect(page.status).toBe(503)
      expect(page.body).toContain(language === 'zh' ? '服务正在重启' : 'The service is restarting')
    }
    for (const path of ['/v1', '/v1/models', '/v1beta', '/v1beta/models']) {
      const { status, body } = await ask(path, 'en')
      expect([status, JSON.parse(body).error.code]).toEqual([503, 'unavailable'])
    }
  })
})

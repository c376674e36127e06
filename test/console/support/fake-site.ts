import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Status } from '#read-api/contract/status.ts'

/** The console must be built before the tests. `CONSOLE_DIST` names another build. */
const DIST = process.env.CONSOLE_DIST ?? resolve(import.meta.dirname, '../../../console/dist')
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** As strict as the product's content security policy. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // The product permits the sites of configured chat clients.
  'frame-src https://chat.example',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const FOREVER = 'public, max-age=31536000, immutable'

/** With a `content-type`, `body` is sent unchanged, and an async iterable is sent in pieces. */
export type FakeAnswer = { status?: number; headers?: Record<string, string>; body: unknown }
export type FakeCall = {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  /** The value of `Accept-Language`. */
  language: string
}
export type FakeRoutes = Record<string, (call: FakeCall) => FakeAnswer | Promise<FakeAnswer>>

export type FakeSite = {
  url: string
  calls: FakeCall[]
  /** Answers by `METHOD /path`, which tests may change at any time. */
  routes: FakeRoutes
  /** The time (ms) after which a script is sent, which tests may change at any time. */
  delays: { scriptMs: number }
  close(): Promise<void>
}

/** A path with an empty document, which no part of the console runs in. */
export const BLANK_PATH = '/blank'

type Answering = Pick<FakeSite, 'calls' | 'routes' | 'delays'>
type Listener = (request: IncomingMessage, response: ServerResponse) => void
type Host = { readonly url: string; serve(listener: Listener | null): void }

/** Servers of closed sites. The next site gets the address, which a browser has in its cache. */
const idleHosts: Host[] = []

/** Serves the built console with a scripted API. */
export async function startFakeSite(routes: FakeRoutes = {}, dist = DIST): Promise<FakeSite> {
  const site: Answering = { calls: [], routes: { ...SHELL, ...routes }, delays: { scriptMs: 0 } }
  const host = idleHosts.pop() ?? (await startHost())
  host.serve((request, response) => void answer(site, dist, request, response))
  return {
    ...site,
    url: host.url,
    close: async () => {
      host.serve(null)
      idleHosts.push(host)
    },
  }
}

/** Starts a server that ends every connection while it has no listener. */
async function startHost(): Promise<Host> {
  let current: Listener | null = null
  const server = createServer((request, response) => {
    if (current === null) request.socket.destroy()
    else current(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (listener) => {
      current = listener
      server.closeAllConnections()
    },
  }
}

export const ok = (data: unknown, message = ''): FakeAnswer => ({
  body: { success: true, message, data },
})

export const refused = (message: string, code = 'Refused'): FakeAnswer => ({
  body: { success: false, message, code },
})

/** The refusal of a request because of a field. */
export const refusedField = (name: string, problem: string): FakeAnswer => {
  const { status, code, translatedMessage } = invalidField(name, { zh: problem, en: problem })
  const body = {
    success: false,
    message: translatedMessage.zh,
    code,
    invalid_field: { name, problem },
  }
  return { status, body }
}

async function answer(
  site: Answering,
  dist: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://site')
  if (url.pathname === BLANK_PATH) return void response.setHeader('content-type', 'text/html').end()
  if (!/^\/(api|pg)\//.test(url.pathname)) {
    const { scriptMs } = site.delays
    if (scriptMs > 0 && url.pathname.endsWith('.js')) await delay(scriptMs)
    return sendFile(dist, url.pathname, response)
  }
  const call: FakeCall = {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    body: await readBody(request),
    language: request.headers['accept-language'] ?? '',
  }
  site.calls.push(call)
  const route = site.routes[`${call.method} ${call.path}`] ?? (() => NOT_FOUND)
  const { status = 200, headers = {}, body } = await route(call)
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-request-id': `req-${site.calls.length}`,
    ...headers,
  })
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body) {
    for await (const piece of body as AsyncIterable<string>) response.write(piece)
    response.end()
    return
  }
  const isJson = headers['content-type'] === undefined
  response.end(isJson ? JSON.stringify(body) : String(body))
}

/** Every page of the console sends these requests. */
const SHELL: FakeRoutes = {
  'GET /api/user/messages/unread_count': () => ok({ unread_count: 0 }),
}

const NOT_FOUND: FakeAnswer = {
  status: 404,
  body: { success: false, message: 'no such route', code: 'NotFound' },
}

function sendFile(dist: string, path: string, response: ServerResponse): void {
  const assetPath = join(dist, path)
  const isFile = existsSync(assetPath) && statSync(assetPath).isFile()
  const file = isFile ? assetPath : join(dist, 'index.html')
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    // Cached as in the product, so that a reopened page loads its scripts from the cache.
    'cache-control': path.startsWith('/assets/') ? FOREVER : 'no-cache',
  })
  createReadStream(file).pipe(response)
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  if (request.headers['content-type'] === 'text/csv') return text
  return text === '' ? undefined : JSON.parse(text)
}

export const STATUS: Status = {
  system_name: 'Tallygate',
  logo: '',
  footer_html: '',
  quota_per_unit: 500_000,
  display_in_currency: true,
  enable_drawing: false,
  group_colors: { default: 'blue', vip: 'purple' },
  enable_task: false,
  enable_video: false,
  enable_data_export: true,
  chats: [],
  data_export_default_time: 'hour',
  data_export_interval: 5,
  default_collapse_sidebar: false,
  mj_notify_enabled: false,
  chat_link: '',
  chat_link2: '',
  docs_link: '',
  server_address: '',
  version: '0.1.0',
  start_time: 1_763_000_000,
  aff_enabled: false,
  check_in_enabled: false,
  turnstile_check: false,
  turnstile_site_key: '',
  github_oauth: false,
  github_client_id: '',
  oidc_enabled: false,
  oidc_client_id: '',
  oidc_authorization_endpoint: '',
  linuxdo_oauth: false,
  linuxdo_client_id: '',
  telegram_oauth: false,
  telegram_bot_name: '',
  wechat_login: false,
  wechat_qrcode: '',
  email_verification: false,
  password_login_enabled: true,
  password_register_enabled: true,
  register_enabled: true,
  min_topup: 1,
  enable_online_topup: false,
  topup_methods: [],
  top_up_link: '',
  rebate_percentage: '0',
  self_use_mode_enabled: false,
  demo_site_enabled: false,
  setup: true,
}

import { createHash, createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Account = { readonly id: number; readonly login: string; readonly name?: string | null }

export type Instead = {
  readonly status: number
  readonly body?: string
  readonly location?: string
  readonly type?: string
}

export type ScriptedSites = {
  readonly url: string
  /** The account that logs in to GitHub and LinuxDO. */
  who: Account
  /** The WeChat openid by login code. */
  readonly weChatCodes: Map<string, string>
  /** Overrides the response at a path by a status and a text, or by a redirect. */
  readonly instead: Map<string, Instead>
  readonly requests: string[]
  readonly close: () => Promise<void>
}

export const SITE_CLIENT = { id: 'client-1', secret: 'site-client-secret' }
export const WECHAT_TOKEN = 'wechat-server-token'
export const BOT_TOKEN = '123456:telegram-bot-token'

/** Simulates GitHub, LinuxDO and a WeChat server, and verifies the received requests. */
export async function startScriptedSites(): Promise<ScriptedSites> {
  const codes = new Map<string, { account: Account; challenge: string }>()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sites: ScriptedSites = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    who: { id: 1, login: 'octo', name: 'Octo Cat' },
    weChatCodes: new Map(),
    instead: new Map(),
    requests: [],
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', sites.url)
    sites.requests.push(url.pathname)
    const other = sites.instead.get(url.pathname)
    if (other !== undefined) {
      const { status, body = '', location, type = 'text/plain' } = other
      const headers = { 'content-type': type, ...(location === undefined ? {} : { location }) }
      response.writeHead(status, headers).end(body)
      return
    }
    if (url.pathname.endsWith('/authorize')) return sendBack(url, response)
    if (url.pathname.endsWith('/token')) return giveToken(request, response)
    if (url.pathname.endsWith('/user') && !url.pathname.includes('wechat')) {
      return giveAccount(url.pathname, request, response)
    }
    if (url.pathname === '/api/wechat/user') return giveOpenId(url, request, response)
    response.writeHead(404).end()
  }
  const sendBack = (url: URL, response: ServerResponse): void => {
    const code = randomUUID()
    const challenge = url.searchParams.get('code_challenge') ?? ''
    codes.set(code, { account: sites.who, challenge })
    const back = new URL(url.searchParams.get('redirect_uri') ?? 'http://127.0.0.1/none')
    back.searchParams.set('code', code)
    back.searchParams.set('state', url.searchParams.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
  }
  const giveToken = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await text(request))
    const code = form.get('code') ?? ''
    const issued = codes.get(code)
    codes.delete(code)
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isProved = issued?.challenge === '' || issued?.challenge === verifier.digest('base64url')
    if (issued === undefined || !isProved || !isClient(request, form)) {
      return json(response, { error: 'bad_verification_code' })
    }
    json(response, {
      access_token: `token-of-${encodeURIComponent(JSON.stringify(issued.account))}`,
    })
  }
  const giveOpenId = (url: URL, request: IncomingMessage, response: ServerResponse): void => {
    const isOurs = request.headers.authorization === WECHAT_TOKEN
    const openId = isOurs ? sites.weChatCodes.get(url.searchParams.get('code') ?? '') : undefined
    json(response, openId ? { success: true, data: openId } : { success: false, message: 'no' })
  }
  return sites
}

function isClient({ headers }: IncomingMessage, form: URLSearchParams): boolean {
  const basic = Buffer.from(`${SITE_CLIENT.id}:${SITE_CLIENT.secret}`).toString('base64')
  if (headers.authorization !== undefined) return headers.authorization === `Basic ${basic}`
  return (
    form.get('client_id') === SITE_CLIENT.id && form.get('client_secret') === SITE_CLIENT.secret
  )
}

function giveAccount(path: string, { headers }: IncomingMessage, response: ServerResponse): void {
  const token = headers.authorization?.replace('Bearer token-of-', '') ?? ''
  const { login, ...account } = JSON.parse(decodeURIComponent(token)) as Account
  json(response, { ...account, [path.includes('linuxdo') ? 'username' : 'login']: login })
}

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Returns the data of Telegram's login widget about a user, signed with the bot's token. */
export function telegramSays(
  fields: Readonly<Record<string, string>>,
  token = BOT_TOKEN,
): Record<string, string> {
  const lines = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  const key = createHash('sha256').update(token).digest()
  const hash = createHmac('sha256', key).update(lines.sort().join('\n')).digest('hex')
  return { ...fields, hash }
}

/** Returns options that make the product use the simulated sites. */
export const siteOptions = (url: string): Readonly<Record<string, string>> => ({
  GitHubOAuthEnabled: 'true',
  GitHubClientId: SITE_CLIENT.id,
  GitHubClientSecret: SITE_CLIENT.secret,
  'github.authorization_endpoint': `${url}/github/authorize`,
  'github.token_endpoint': `${url}/github/token`,
  'github.user_info_endpoint': `${url}/github/user`,
  LinuxDOOAuthEnabled: 'true',
  LinuxDOClientId: SITE_CLIENT.id,
  LinuxDOClientSecret: SITE_CLIENT.secret,
  'linuxdo.authorization_endpoint': `${url}/linuxdo/authorize`,
  'linuxdo.token_endpoint': `${url}/linuxdo/token`,
  'linuxdo.user_info_endpoint': `${url}/linuxdo/user`,
  WeChatAuthEnabled: 'true',
  WeChatServerAddress: url,
  WeChatServerToken: WECHAT_TOKEN,
  TelegramOAuthEnabled: 'true',
  TelegramBotName: 'tallygate_bot',
  TelegramBotToken: BOT_TOKEN,
})

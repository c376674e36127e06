import { isObject, parseJsonText } from './json-text.ts'

/** Where a proxy is, and what it is told of who comes. */
type ProxyAddress = {
  /** `http://host:port`: nothing of it is secret. */
  readonly origin: string
  /** `user:password`, a secret; null: it asks for none. */
  readonly login: string | null
}

/** null: no http or https address, or one with a path or query, which no proxy has. */
export function proxyAddress(text: string): ProxyAddress | null {
  const url = /[\s\\?#]/.test(text) || !URL.canParse(text) ? null : new URL(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null
  if (url.pathname !== '/') return null
  const { origin, username, password } = url
  const login = username === '' && password === '' ? null : decoded(`${username}:${password}`)
  return login === undefined ? null : { origin, login }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** In the place of a proxy's password, or of a user without one, for those who may not read it. */
const MASK = '***'
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g
/** Up to its last @: also in what is no proxy's address a password may stand. */
const LOGIN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/*)?[^:/]*:)(?!\/)(.+)(@[^@]*)$/is
/** A user without a password may be a token. */
const USER = /^(\s*(?:[a-z][a-z0-9+.-]*:\/+)?)(.+)(@[^@]*)$/is

/** A channel's extra settings as they are kept and shown: without the password of their proxy. */
export function maskedSetting(setting: string): string {
  const proxy = proxyIn(setting)
  return proxy === null ? setting : withProxy(setting, proxy, masked(proxy))
}

/** As it was meant: what was shown of the proxy that is `stored` stands for it, as the proxy. */
export function unmaskedSetting(setting: string, stored: string): string {
  if (setting === maskedSetting(stored)) return stored
  const given = proxyIn(setting)
  const proxy = proxyIn(stored)
  if (given === null || proxy === null || given !== masked(proxy)) return setting
  return withProxy(setting, given, proxy)
}

/** The proxy that is named there, if it is one that can be used and has a login to be kept. */
export function secretProxyIn(setting: string): string | null {
  const proxy = proxyIn(setting)?.trim() ?? ''
  const isSecret = loginOf(proxy) !== null && !isMasked(proxy) && proxyAddress(proxy) !== null
  return isSecret ? proxy : null
}

/** With this proxy in the place of the one that is named there. */
export function settingWithProxy(setting: string, proxy: string): string {
  const shown = proxyIn(setting)
  return shown === null ? setting : withProxy(setting, shown, proxy)
}

/** Shown somewhere, and sent back for another proxy: nobody knows the password it stands for. */
export const isMasked = (proxy: string): boolean => loginOf(proxy)?.[2] === MASK

const loginOf = (proxy: string): RegExpExecArray | null => LOGIN.exec(proxy) ?? USER.exec(proxy)

function masked(proxy: string): string {
  const [, before, , after] = loginOf(proxy) ?? []
  return before === undefined || after === undefined ? proxy : `${before}${MASK}${after}`
}

function proxyIn(setting: string): string | null {
  const parsed = parseJsonText(setting)
  if (!('value' in parsed) || !isObject(parsed.value)) return null
  const proxy = parsed.value.get('proxy')
  return typeof proxy === 'string' ? proxy : null
}

/** Whatever else stands there stays as it was typed: a password never gets anywhere else. */
function withProxy(setting: string, from: string, to: string): string {
  if (from === to) return setting
  let depth = 0
  let before = ''
  let name = ''
  return setting.replace(TOKEN, (token) => {
    const isValue = before === ':'
    before = token
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
    if (depth !== 1 || !token.startsWith('"')) return token
    if (isValue) return name === 'proxy' ? JSON.stringify(to) : token
    name = JSON.parse(token)
    return token
  })
}

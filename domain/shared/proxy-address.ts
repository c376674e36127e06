import { isObject, parseJsonText } from './json-text.ts'

/** The address of a proxy, and the credentials that are sent to the proxy. */
type ProxyAddress = {
  /** The address without credentials, such as `http://host:port`. */
  readonly origin: string
  /** The secret credentials, as `user:password`. null means that the proxy needs none. */
  readonly login: string | null
}

/** Parses a proxy address. Returns null unless it is an http(s) address without path and query. */
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

/**
 * The mask that hides a proxy's password from readers who may not see it. A user name without a
 * password is masked as well.
 */
const MASK = '***'
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g
/** Matches credentials up to the last @, because a password may contain an @. */
const LOGIN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/*)?[^:/]*:)(?!\/)(.+)(@[^@]*)$/is
/** Matches a user name without a password, because it may be an access token. */
const USER = /^(\s*(?:[a-z][a-z0-9+.-]*:\/+)?)(.+)(@[^@]*)$/is

/**
 * Returns a channel's extra settings in the form in which they are stored and shown. The password
 * of the proxy is masked.
 */
export function maskedSetting(setting: string): string {
  const proxy = proxyIn(setting)
  return proxy === null ? setting : withProxy(setting, proxy, masked(proxy))
}

/** Restores the stored proxy if a form sends back the masked address that was shown. */
export function unmaskedSetting(setting: string, stored: string): string {
  if (setting === maskedSetting(stored)) return stored
  const given = proxyIn(setting)
  const proxy = proxyIn(stored)
  if (given === null || proxy === null || given !== masked(proxy)) return setting
  return withProxy(setting, given, proxy)
}

/** Returns the proxy in the setting if its address is valid and has credentials, or else null. */
export function secretProxyIn(setting: string): string | null {
  const proxy = proxyIn(setting)?.trim() ?? ''
  const isSecret = loginOf(proxy) !== null && !isMasked(proxy) && proxyAddress(proxy) !== null
  return isSecret ? proxy : null
}

/** Returns the setting with another proxy. */
export function settingWithProxy(setting: string, proxy: string): string {
  const shown = proxyIn(setting)
  return shown === null ? setting : withProxy(setting, shown, proxy)
}

/**
 * Returns whether the password is the mask. If a form sends the mask with the host of another
 * proxy, the real password is unknown.
 */
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

/** Replaces only the top-level member `proxy`. The rest of the text remains as typed. */
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

import { isObject, parseJsonText } from './json-text.ts'

/** The address of a proxy and the credentials that are sent to it. */
type ProxyAddress = {
  /** `http://host:port`, without any secret. */
  readonly origin: string
  /** `user:password`, which is a secret; null where the proxy needs none. */
  readonly login: string | null
}

/** Returns null unless the text is an http or https address without a path and a query. */
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
 * Replaces a proxy's password, or a user name without a password, for readers who may not see it.
 */
const MASK = '***'
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g
/** Matches up to the last @, because malformed addresses may contain a password, too. */
const LOGIN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/*)?[^:/]*:)(?!\/)(.+)(@[^@]*)$/is
/** A user name without a password may be an access token. */
const USER = /^(\s*(?:[a-z][a-z0-9+.-]*:\/+)?)(.+)(@[^@]*)$/is

/** A channel's extra settings as they are stored and shown: the password of the proxy is masked. */
export function maskedSetting(setting: string): string {
  const proxy = proxyIn(setting)
  return proxy === null ? setting : withProxy(setting, proxy, masked(proxy))
}

/** Restores the stored proxy where a setting comes back with the masked address that was shown. */
export function unmaskedSetting(setting: string, stored: string): string {
  if (setting === maskedSetting(stored)) return stored
  const given = proxyIn(setting)
  const proxy = proxyIn(stored)
  if (given === null || proxy === null || given !== masked(proxy)) return setting
  return withProxy(setting, given, proxy)
}

/**
 * The proxy in the setting, if its address is valid and has credentials that must be kept secret.
 */
export function secretProxyIn(setting: string): string | null {
  const proxy = proxyIn(setting)?.trim() ?? ''
  const isSecret = loginOf(proxy) !== null && !isMasked(proxy) && proxyAddress(proxy) !== null
  return isSecret ? proxy : null
}

/** The setting with its proxy replaced by the given one. */
export function settingWithProxy(setting: string, proxy: string): string {
  const shown = proxyIn(setting)
  return shown === null ? setting : withProxy(setting, shown, proxy)
}

/**
 * Whether the password is the mask, so that the real password is unknown: it was shown masked and
 * comes back with another proxy.
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

/**
 * Replaces only the top-level `proxy`. The rest of the text remains as typed, so that the password
 * appears in no other place.
 */
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

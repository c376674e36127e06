import { isObject, parseJsonText } from './lossless-json.ts'

type ProxyAddress = {
  /** The address of the proxy without credentials, such as `http://host:port`. */
  readonly origin: string
  /** The credentials as `user:password`, or null. */
  readonly credentials: string | null
}

/** Parses an http(s) address without path and query. Returns null for any other text. */
export function proxyAddress(text: string): ProxyAddress | null {
  const url = /[\s\\?#]/.test(text) || !URL.canParse(text) ? null : new URL(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null
  if (url.pathname !== '/') return null
  const { origin, username, password } = url
  const login = username === '' && password === '' ? null : decoded(`${username}:${password}`)
  return login === undefined ? null : { origin, credentials: login }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * The text that replaces a proxy's password for readers without permission. If there is no
 * password, this text replaces the user name.
 */
const MASK = '***'
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g
/**
 * Matches the credentials of a proxy address. The credentials end at the last @, because a password
 * may contain an @.
 */
const CREDENTIALS_PATTERN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/*)?[^:/]*:)(?!\/)(.+)(@[^@]*)$/is
/** Matches a user name without a password. The user name may be an access token. */
const USER = /^(\s*(?:[a-z][a-z0-9+.-]*:\/+)?)(.+)(@[^@]*)$/is

/**
 * Returns a channel's extra settings with a masked proxy password. The settings are stored and
 * shown in this form.
 */
export function maskProxyPassword(setting: string): string {
  const proxy = proxyIn(setting)
  return proxy === null ? setting : withProxy(setting, proxy, maskAddress(proxy))
}

/** Restores the stored proxy address if a form sends back the masked address. */
export function restoreMaskedProxy(setting: string, stored: string): string {
  if (setting === maskProxyPassword(stored)) return stored
  const proxyText = proxyIn(setting)
  const proxy = proxyIn(stored)
  if (proxyText === null || proxy === null || proxyText !== maskAddress(proxy)) return setting
  return withProxy(setting, proxyText, proxy)
}

/**
 * Returns the proxy address in the setting if the address is valid and has credentials that are not
 * masked. Otherwise returns null.
 */
export function proxyWithCredentials(setting: string): string | null {
  const proxy = proxyIn(setting)?.trim() ?? ''
  const isSecret =
    matchCredentials(proxy) !== null && !isMasked(proxy) && proxyAddress(proxy) !== null
  return isSecret ? proxy : null
}

export function settingWithProxy(setting: string, proxy: string): string {
  const proxyText = proxyIn(setting)
  return proxyText === null ? setting : withProxy(setting, proxyText, proxy)
}

/**
 * Reports whether the proxy's password is only the mask. A masked password can't be restored if a
 * form has changed another part of the address.
 */
export const isMasked = (proxy: string): boolean => matchCredentials(proxy)?.[2] === MASK

const matchCredentials = (proxy: string): RegExpExecArray | null =>
  CREDENTIALS_PATTERN.exec(proxy) ?? USER.exec(proxy)

function maskAddress(proxy: string): string {
  const [, before, , after] = matchCredentials(proxy) ?? []
  return before === undefined || after === undefined ? proxy : `${before}${MASK}${after}`
}

function proxyIn(setting: string): string | null {
  const parsed = parseJsonText(setting)
  if (!('value' in parsed) || !isObject(parsed.value)) return null
  const proxy = parsed.value.get('proxy')
  return typeof proxy === 'string' ? proxy : null
}

/**
 * Replaces the top-level member `proxy` of the setting. All other text stays as the admin typed it.
 */
function withProxy(setting: string, from: string, to: string): string {
  if (from === to) return setting
  let depth = 0
  let before = ''
  let name = ''
  return setting.replace(JSON_TOKEN, (token) => {
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

import { isObject, parseJsonText } from './json-text.ts'

/** In the place of a proxy's password, for those who may not read it. */
const MASK = '***'
const STRING = /"(?:[^"\\]|\\.)*"/g
/** Up to its last @: also in what is no proxy's address a password may stand. */
const LOGIN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/*)?[^:/]*:)(?!\/)(.*)(@[^@]*)$/is

/** A channel's extra settings as they are shown: without the password of their proxy. */
export function maskedSetting(setting: string): string {
  const proxy = proxyIn(setting)
  return proxy === null ? setting : withText(setting, proxy, masked(proxy))
}

/** As it was meant: what was shown of the proxy that is `stored` stands for that one. */
export function unmaskedSetting(setting: string, stored: string): string {
  if (setting === maskedSetting(stored)) return stored
  const proxy = proxyIn(stored)
  return proxy === null ? setting : withText(setting, masked(proxy), proxy)
}

/** Shown somewhere, and sent back for another proxy: nobody knows the password it stands for. */
export const isMasked = (proxy: string): boolean => LOGIN.exec(proxy)?.[2] === MASK

const masked = (proxy: string): string =>
  proxy.replace(LOGIN, (_all, before, _password, after) => `${before}${MASK}${after}`)

function proxyIn(setting: string): string | null {
  const parsed = parseJsonText(setting)
  if (!('value' in parsed) || !isObject(parsed.value)) return null
  const proxy = parsed.value.get('proxy')
  return typeof proxy === 'string' ? proxy : null
}

/** Whatever else stands there stays as it was typed. */
function withText(setting: string, from: string, to: string): string {
  if (from === to || !('value' in parseJsonText(setting))) return setting
  return setting.replace(STRING, (text) => (JSON.parse(text) === from ? JSON.stringify(to) : text))
}

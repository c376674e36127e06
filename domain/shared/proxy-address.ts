/** Where a proxy is, and what it is told of who comes. */
export type ProxyAddress = {
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

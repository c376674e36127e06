import { OIDC_CLIENT, type OidcSite, startOidcSite } from '#test/support/oidc-provider.ts'
import {
  type ScriptedSites,
  siteOptions,
  startScriptedSites,
} from '#test/support/simulated-login-sites.ts'
import {
  type Answer,
  type Caller,
  callerOf,
  type LoggedIn,
  seededFixture,
} from './write-fixture.ts'

export const SERVER = 'http://tallygate.example'

/** A site where every login method is enabled. The scripted providers run in this process. */
export async function oauthFixture() {
  const fixture = await seededFixture()
  const sites: ScriptedSites = await startScriptedSites()
  const oidc: OidcSite = await startOidcSite(`${SERVER}/oauth/oidc`)
  const set = async (options: Readonly<Record<string, string>>) => {
    for (const [key, value] of Object.entries(options)) {
      const answer = await fixture.root.call('PUT', '/api/option/', { body: { key, value } })
      if (!answer.success) throw new Error(`${key}: ${answer.message}`)
    }
  }
  await set({
    ServerAddress: `${SERVER}/`,
    ...siteOptions(sites.url),
    'oidc.enabled': 'true',
    'oidc.client_id': OIDC_CLIENT.id,
    'oidc.client_secret': OIDC_CLIENT.secret,
    'oidc.well_known': oidc.wellKnown,
  })
  return {
    ...fixture,
    sites,
    oidc,
    set,
    visitor: (as?: LoggedIn) => new Visitor(fixture, as),
    close: async () => {
      await fixture.close()
      await sites.close()
      await oidc.close()
    },
  }
}

export type OAuthFixture = Awaited<ReturnType<typeof oauthFixture>>

export type Back = { readonly code: string; readonly state: string; readonly iss?: string }

type Site = Pick<Awaited<ReturnType<typeof seededFixture>>, 'app' | 'clock'>

/** Simulates a browser, which stores the cookies that it receives. */
export class Visitor {
  readonly #site: Site
  readonly #cookies = new Map<string, string>()
  userId: string | null = null

  constructor(site: Site, as?: LoggedIn) {
    this.#site = site
    if (as === undefined) return
    this.userId = String(as.id)
    this.#cookies.set('session', as.cookie.replace('session=', ''))
  }

  async get<T = unknown>(
    path: string,
    query: Readonly<Record<string, string>> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const call = this.#caller(headers)
    const text = new URLSearchParams(query).toString()
    const answer = await call<T>('GET', text === '' ? path : `${path}?${text}`)
    this.#keep(answer.headers['set-cookie'])
    return answer
  }

  post<T = unknown>(path: string, body: object): Promise<Answer<T>> {
    return this.#caller({})<T>('POST', path, { body })
  }

  /**
   * Goes to the provider and returns. The result is the query with which the browser opens the
   * console's page.
   */
  async travel(type: string, purpose: Readonly<Record<string, string>> = {}): Promise<Back> {
    // The clock moves, so that the rate limit, which has separate tests, is never reached.
    this.#site.clock.ahead += 3_000
    const { data, message } = await this.get<{ url: string }>('/api/oauth/authorize', {
      type,
      ...purpose,
    })
    if (data === null) throw new Error(message)
    return follow(data.url)
  }

  /** As `travel`, and then returns the response of the callback. */
  async comeBy(type: string, purpose: Readonly<Record<string, string>> = {}) {
    const back = await this.travel(type, purpose)
    return this.get<{ id: number; username: string } | null>(`/api/oauth/${type}`, back)
  }

  #caller(headers: Record<string, string>): Caller {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const own = this.userId === null ? {} : { 'user-id': this.userId }
    return callerOf(this.#site.app, { cookie, ...own, ...headers })
  }

  #keep(header: unknown): void {
    for (const line of [header ?? []].flat() as string[]) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      this.#cookies.set(name, value)
    }
  }
}

/** Follows redirects as a browser does, until one leads to this site. */
async function follow(address: string): Promise<Back> {
  const cookies = new Map<string, string>()
  for (let url = address, hop = 0; hop < 10; hop += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    await answer.body?.cancel()
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`${answer.status} and no redirect at ${url}`)
    url = new URL(location, url).href
    if (url.startsWith(SERVER)) return Object.fromEntries(new URL(url).searchParams) as Back
  }
  throw new Error('too many redirects')
}

/**
 * A response of the management API. `position` is the position of the last event of a write, from
 * the header `X-Position`. `position` is null if this header is missing.
 */
export type ApiAnswer<T> = {
  readonly status: number
  readonly success: boolean
  readonly message: string
  readonly code?: string
  readonly data: T
  readonly position: number | null
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Calls the management API as the console does, with a session cookie and the header `User-Id`. */
export class ConsoleClient {
  readonly url: string
  #cookie = ''
  #userId = ''

  constructor(url: string) {
    this.url = url
  }

  get sessionHeaders(): Record<string, string> {
    return { cookie: this.#cookie, 'user-id': this.#userId, 'accept-language': 'en' }
  }

  async call<T>(method: Method, path: string, body?: unknown): Promise<ApiAnswer<T>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...this.sessionHeaders,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const cookie = response.headers.getSetCookie().find((text) => text.startsWith('session='))
    if (cookie !== undefined) this.#cookie = cookie.split(';')[0] ?? ''
    const position = response.headers.get('x-position')
    const answer = (await response.json()) as Omit<ApiAnswer<T>, 'status' | 'position'>
    return { ...answer, status: response.status, position: position ? Number(position) : null }
  }

  /** Like `call`, but throws if the response does not report success. */
  async must<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const answer = await this.call<T>(method, path, body)
    if (answer.success) return answer.data
    throw new Error(`${method} ${path}: ${answer.status} ${answer.message}`)
  }

  async setUp(username: string, password: string): Promise<void> {
    await this.must('POST', '/api/setup', {
      username,
      password,
      confirmPassword: password,
      SelfUseModeEnabled: false,
      DemoSiteEnabled: false,
    })
  }

  async logIn(username: string, password: string): Promise<number> {
    const { id } = await this.must<{ id: number }>('POST', '/api/user/login', {
      username,
      password,
    })
    this.#userId = String(id)
    return id
  }

  /** Creates a token. The returned key includes the prefix `sk-`. */
  async createToken(fields: Record<string, unknown>): Promise<{ id: number; key: string }> {
    await this.must('POST', '/api/token/', fields)
    type Row = { id: number; key: string; name: string }
    const { items } = await this.must<{ items: Row[] }>('GET', '/api/token/?p=0&size=100')
    const made = items
      .filter(({ name }) => name === fields.name)
      .reduce((newest, row) => (row.id > newest.id ? row : newest))
    return { id: made.id, key: `sk-${made.key}` }
  }
}

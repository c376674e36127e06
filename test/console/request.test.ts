// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '#console/api/api-error.ts'
import { isWorthRetrying, retryDelayMs } from '#console/api/query-client.ts'
import { pathWithQuery, request } from '#console/api/request.ts'
import {
  clearUser,
  isLoggingOut,
  onSessionExpired,
  startLogout,
  storedUser,
  storeUser,
} from '#console/api/session.ts'
import { startI18n } from '#console/i18n/i18n.ts'
import { zh } from '#test/support/console-texts.ts'

const USER = { id: 7, username: 'mia', display_name: '', role: 1, status: 1, group: 'default' }

let sent: { url: string; init: RequestInit }[] = []

function answerWith(status: number, body: unknown, headers: Record<string, string> = {}): void {
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init })
    return new Response(JSON.stringify(body), { status, headers })
  })
}

const failure = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: ApiError) => error,
  )

beforeEach(async () => {
  sent = []
  localStorage.clear()
  localStorage.setItem('i18nextLng', 'zh')
  await startI18n()
})
afterEach(() => vi.unstubAllGlobals())

describe('an API request', () => {
  it('sends the user, the language and the last position as headers', async () => {
    storeUser(USER)
    answerWith(200, { success: true, message: '', data: 1 }, { 'x-position': '41' })
    await request({ method: 'POST', path: '/api/x', body: { a: 1 } })
    await request({ path: '/api/y', query: { p: 0, q: '', r: undefined } })
    const headers = new Headers(sent[1]?.init.headers)
    expect(sent[1]?.url).toBe('/api/y?p=0')
    expect(headers.get('user-id')).toBe('7')
    expect(headers.get('accept-language')).toBe('zh')
    expect(headers.get('x-after-position')).toBe('41')
  })

  it.each([
    [405, zh('request.noServer')],
    [429, zh('request.health.busy')],
    [500, zh('request.serverError')],
    [404, zh('request.other', { message: 'no such thing' })],
  ])('that fails with %i has the message %s', async (status, words) => {
    const body = { success: false, message: 'no such thing', code: 'NotFound' }
    answerWith(status, body, { 'x-request-id': 'r-1', 'retry-after': '3' })
    const error = await failure(request({ path: '/api/x' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ message: words, status, requestId: 'r-1', retryAfterMs: 3000 })
  })

  it('that a rule refuses has the message and code of the server', async () => {
    answerWith(200, {
      success: false,
      message: 'the balance is too low',
      code: 'InsufficientQuota',
    })
    const error = await failure(request({ path: '/api/x' }))
    expect(error).toMatchObject({ message: 'the balance is too low', code: 'InsufficientQuota' })
  })

  it('ends the session once when it gets a 401, and never a later session', async () => {
    let expiries = 0
    const stop = onSessionExpired(() => {
      expiries += 1
    })
    storeUser(USER)
    answerWith(401, { success: false, message: '', code: 'Unauthorized' })
    await Promise.all([failure(request({ path: '/a' })), failure(request({ path: '/b' }))])
    expect([storedUser(), expiries]).toEqual([null, 1])
    storeUser(USER)
    const late = failure(request({ path: '/c' }))
    storeUser({ ...USER, id: 8 })
    await late
    expect([storedUser()?.id, expiries]).toEqual([8, 1])
    stop()
  })

  it('that gets a 401 during a logout does not end the session', async () => {
    let expiries = 0
    const stop = onSessionExpired(() => {
      expiries += 1
    })
    storeUser(USER)
    startLogout()
    answerWith(401, { success: false, message: '', code: 'Unauthorized' })
    await failure(request({ path: '/late' }))
    expect([storedUser()?.id, expiries, isLoggingOut()]).toEqual([USER.id, 0, true])
    clearUser()
    storeUser(USER)
    await failure(request({ path: '/next' }))
    expect([storedUser(), expiries]).toEqual([null, 1])
    stop()
  })

  it('that gets a 401 while a new password renews the session is sent once more', async () => {
    storeUser(USER)
    const expired = vi.fn()
    const stop = onSessionExpired(expired)
    let isRenewed = false
    let answer = (): void => {}
    const renewal = new Promise<void>((resolve) => {
      answer = resolve
    })
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      sent.push({ url, init })
      if (init.method === 'PUT') await renewal
      const status = init.method === 'PUT' || isRenewed ? 200 : 401
      return new Response(JSON.stringify({ success: status === 200, data: url }), { status })
    })
    const changing = request({ method: 'PUT', path: '/api/x', renewsSession: true })
    const read = request({ path: '/api/y' })
    isRenewed = true
    answer()
    await changing
    expect((await read).data).toBe('/api/y')
    expect(sent.map(({ url }) => url)).toEqual(['/api/x', '/api/y', '/api/y'])
    isRenewed = false
    expect(await failure(request({ path: '/api/z' }))).toMatchObject({ status: 401 })
    expect(expired).toHaveBeenCalledTimes(1)
    stop()
  })

  it('is retried only where a retry can help', () => {
    const error = (status: number) => new ApiError('x', { code: 'x', status, retryAfterMs: null })
    expect([0, 429, 503].map((status) => isWorthRetrying(0, error(status)))).toEqual([
      true,
      true,
      true,
    ])
    expect([200, 400, 401, 404, 500].some((status) => isWorthRetrying(0, error(status)))).toBe(
      false,
    )
    expect(retryDelayMs(1, new ApiError('x', { code: 'x', status: 429, retryAfterMs: 9000 }))).toBe(
      9000,
    )
    expect(pathWithQuery('/api/x', { a: null })).toBe('/api/x')
  })
})

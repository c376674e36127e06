import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type EntryFixture, entryFixture } from './entry-fixture.ts'
import { PASSWORD } from './write-fixture.ts'

let fixture: EntryFixture
let provider: Server
let requests: URLSearchParams[] = []
/** The provider's response for the next token. */
let verdict: Record<string, unknown> | null = {}

beforeAll(async () => {
  fixture = await entryFixture()
  provider = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push(new URLSearchParams(body))
      if (verdict === null) return request.socket.destroy()
      response.end(JSON.stringify({ success: true, hostname: 'localhost', ...verdict }))
    })
  })
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done))
  const { port } = provider.address() as AddressInfo
  await fixture.put('TurnstileVerifyURL', `http://127.0.0.1:${port}/siteverify`)
  await fixture.put('TurnstileCheckEnabled', 'true')
  await fixture.put('TurnstileSiteKey', 'site-key')
})
afterAll(async () => {
  await fixture.close()
  provider.close()
})
beforeEach(async () => {
  ;[requests, verdict] = [[], {}]
  await fixture.anHourLater()
})

let tokens = 0
const newToken = (): string => {
  tokens += 1
  return `token-${tokens}`
}
const HOST = { host: 'localhost' }

const login = (turnstile: string) =>
  fixture.anybody('POST', `/api/user/login?${new URLSearchParams({ turnstile })}`, {
    body: { username: 'user1', password: PASSWORD },
    headers: HOST,
  })

/** All actions that require the check. */
const ACTS: Readonly<Record<string, (turnstile: string) => ReturnType<typeof login>>> = {
  login,
  register: (turnstile) =>
    fixture.anybody('POST', `/api/user/register?${new URLSearchParams({ turnstile })}`, {
      body: { username: 'newcomer', password: PASSWORD, password2: PASSWORD },
      headers: HOST,
    }),
  verification: (turnstile) => {
    const query = new URLSearchParams({ email: 'ada@example.com', turnstile })
    return fixture.user.call('GET', `/api/verification?${query}`, { headers: HOST })
  },
  reset: (turnstile) => {
    const query = new URLSearchParams({ email: 'ada@example.com', turnstile })
    return fixture.anybody('GET', `/api/reset_password?${query}`, { headers: HOST })
  },
}

it('the human check is off until both keys are set, so that it locks out no user', async () => {
  expect((await login('')).success).toBe(true)
  const status = () => fixture.anybody<{ turnstile_check: boolean }>('GET', '/api/status')
  expect((await status()).data.turnstile_check).toBe(false)
  await fixture.put('TurnstileSecretKey', 'secret-key')
  expect((await status()).data.turnstile_check).toBe(true)
  expect((await login('')).success).toBe(false)
})

describe.each(Object.keys(ACTS))('the human check of %s', (act) => {
  const go = (token: string) => ACTS[act]?.(token) ?? login(token)

  it('needs a token', async () => {
    expect(await go('')).toMatchObject({
      status: 200,
      success: false,
      message: '请稍后几秒重试，Turnstile 正在检查用户环境！',
    })
    expect(requests).toEqual([])
  })

  it('refuses every token that is not verified', async () => {
    for (const said of [
      { success: false, 'error-codes': ['invalid-input-response'] },
      { success: 'true' },
      { hostname: 'evil.example' },
      { action: 'another' },
      null,
    ]) {
      verdict = said
      expect(await go(newToken())).toMatchObject({
        code: 'HumanCheckFailed',
        message: 'Turnstile 校验失败，请刷新重试！',
      })
    }
    expect(await go('x'.repeat(3_000))).toMatchObject({ code: 'HumanCheckFailed' })
  })

  it('accepts a verified token once', async () => {
    verdict = { action: act }
    const token = newToken()
    const answers = await Promise.all(Array.from({ length: 8 }, () => go(token)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'HumanCheckFailed')).toHaveLength(7)
    expect(Object.fromEntries(requests[0] ?? [])).toEqual({
      secret: 'secret-key',
      response: token,
      remoteip: '127.0.0.1',
    })
  })
})

it('the human check uses the request’s host name only if no site address is set', async () => {
  await fixture.put('ServerAddress', 'https://gate.example/')
  expect(await login(newToken())).toMatchObject({ code: 'HumanCheckFailed' })
  verdict = { hostname: 'gate.example' }
  expect((await login(newToken())).success).toBe(true)
  await fixture.put('ServerAddress', '')
})

it('a mail code can be requested with the human check of the registration', async () => {
  verdict = { action: 'register' }
  await fixture.put('EmailVerificationEnabled', 'true')
  const query = new URLSearchParams({ email: 'newcomer@example.com', turnstile: newToken() })
  const answer = await fixture.anybody('GET', `/api/verification?${query}`, { headers: HOST })
  expect(answer.success).toBe(true)
  await fixture.put('EmailVerificationEnabled', 'false')
})

it('the human check asks the provider at most sixty times a minute per IP address', async () => {
  verdict = { success: false }
  const answers = await Promise.all(Array.from({ length: 65 }, () => login(newToken())))
  expect(answers.filter(({ code }) => code === 'HumanCheckFailed')).toHaveLength(60)
  const rest = answers.filter(({ status }) => status === 429)
  expect([rest.length, requests.length]).toEqual([5, 60])
  expect(Number(rest[0]?.headers['retry-after'])).toBeGreaterThan(0)
})

it('failed human checks do not slow down the logins of an account', async () => {
  verdict = { success: false }
  for (let n = 0; n < 20; n += 1) await login(newToken())
  verdict = {}
  expect((await login(newToken())).success).toBe(true)
})

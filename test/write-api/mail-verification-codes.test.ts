import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { entryFixture } from './entry-fixture.ts'
import { fifty, PASSWORD } from './write-fixture.ts'

const fixture = startedOnce(entryFixture)
beforeAll(async () => {
  await fixture.put('EmailVerificationEnabled', 'true')
})
beforeEach(() => fixture.anHourLater())

let names = 0
const register = (email: string, verification_code: string) => {
  names += 1
  const account = { username: `n${names}`, password: PASSWORD, password2: PASSWORD }
  return fixture.register({ ...account, email, verification_code })
}
const bind = (email: string, code: string, call = fixture.user.call) =>
  call('GET', `/api/oauth/email/bind?${new URLSearchParams({ email, code })}`)
const wrong = (code: string): string => (code === '000000' ? '000001' : '000000')

describe('a mail verification code', () => {
  it('has six digits and is mailed to the address, in the caller’s language', async () => {
    const english = { headers: { 'accept-language': 'en' } }
    await fixture.anybody('GET', '/api/verification?email=ada@example.com', english)
    const mail = await fixture.server.mailTo('ada@example.com')
    expect(mail.subject).toBe('Tallygate: verify your mail address')
    expect(mail.text).toMatch(/\b\d{6}\b/)
    expect(mail.subject).not.toMatch(/\d{6}/)
  })

  it('works once', async () => {
    const code = await fixture.codeFor('once@example.com')
    expect((await register('once@example.com', code)).success).toBe(true)
    expect(await register('once@example.com', code)).toMatchObject({ code: 'MailCodeWrong' })
  })

  it('expires after three minutes', async () => {
    const code = await fixture.codeFor('late@example.com')
    fixture.clock.ahead += 180_001
    expect(await register('late@example.com', code)).toMatchObject({
      message: '验证码错误或已过期',
    })
  })

  it('is void after five wrong attempts, even if fifty come at once', async () => {
    const code = await fixture.codeFor('guess@example.com')
    for (let n = 0; n < 4; n += 1) await register('guess@example.com', wrong(code))
    await Promise.all([1, 2, 3].map(() => register('guess@example.com', wrong(code))))
    expect((await register('guess@example.com', code)).code).toBe('MailCodeWrong')

    const other = await fixture.codeFor('guess2@example.com', fixture.user.call)
    await fifty(() => bind('guess2@example.com', wrong(other)))
    expect((await bind('guess2@example.com', other)).code).toBe('MailCodeWrong')
  })

  it('is valid for one address and one purpose', async () => {
    const code = await fixture.codeFor('mine@example.com')
    expect((await register('yours@example.com', code)).code).toBe('MailCodeWrong')
    expect((await bind('mine@example.com', code)).code).toBe('MailCodeWrong')
    const toBind = await fixture.codeFor('bind@example.com', fixture.user.call)
    expect((await register('bind@example.com', toBind)).code).toBe('MailCodeWrong')
    expect((await bind('bind@example.com', toBind, fixture.admin.call)).code).toBe('MailCodeWrong')
    expect((await bind('bind@example.com', toBind)).success).toBe(true)
  })
})

describe('a code that a browser requested', () => {
  const ASKED = { 'sec-fetch-site': 'same-origin' }
  const ask = async (email: string, headers: Record<string, string> = ASKED) => {
    const url = `/api/verification?${new URLSearchParams({ email })}`
    const answer = await fixture.anybody('GET', url, { headers })
    const set = String(answer.headers['set-cookie'] ?? '')
    const code = /\b\d{6}\b/.exec((await fixture.server.mailTo(email)).text)?.[0] ?? ''
    return { set, cookie: set.split(';')[0] ?? '', code }
  }
  const registerIn = (cookie: string, email: string, verification_code: string) => {
    names += 1
    const body = { username: `b${names}`, password: PASSWORD, email, verification_code }
    return fixture.anybody('POST', '/api/user/register', { body, headers: { cookie } })
  }

  it('works only in that browser, and is answered as a wrong code elsewhere', async () => {
    const { set, cookie, code } = await ask('tab@example.com')
    expect(set).toMatch(/^mail_browser=[\w-]{43}; Max-Age=180; Path=\/api; HttpOnly; SameSite=Lax$/)
    const elsewhere = await register('tab@example.com', code)
    const mistyped = await registerIn(cookie, 'tab@example.com', wrong(code))
    expect(elsewhere).toMatchObject({ status: 200, success: false, code: 'MailCodeWrong' })
    const { headers: _, request_id: __, ...said } = elsewhere as Record<string, unknown>
    expect(mistyped).toMatchObject(said)
    expect(await registerIn('mail_browser=x', 'tab@example.com', code)).toMatchObject(said)
    expect((await registerIn(cookie, 'tab@example.com', code)).success).toBe(true)
  })

  it('is void after five wrong attempts in that browser, not after others elsewhere', async () => {
    const { cookie, code } = await ask('tries@example.com')
    for (let n = 0; n < 7; n += 1) await register('tries@example.com', wrong(code))
    for (let n = 0; n < 4; n += 1) await registerIn(cookie, 'tries@example.com', wrong(code))
    expect((await registerIn(cookie, 'tries@example.com', code)).success).toBe(true)
    const { cookie: own, code: other } = await ask('void@example.com')
    for (let n = 0; n < 5; n += 1) await registerIn(own, 'void@example.com', wrong(other))
    expect((await registerIn(own, 'void@example.com', other)).code).toBe('MailCodeWrong')
  })

  it('works in every tab, even after a second request or one for another address', async () => {
    const first = await ask('one@example.com')
    const again = { ...ASKED, cookie: first.cookie }
    const other = await ask('two@example.com', again)
    expect(other.cookie).toBe(first.cookie)
    fixture.clock.ahead += 30_001
    const second = await ask('one@example.com', again)
    expect((await registerIn(first.cookie, 'one@example.com', second.code)).success).toBe(true)
    expect((await registerIn(first.cookie, 'two@example.com', other.code)).success).toBe(true)
  })

  it('binds an address only in that browser, even one without Sec-Fetch headers', async () => {
    const url = '/api/verification?email=mine@browser.example'
    const headers = { origin: 'http://localhost:80', host: 'localhost:80' }
    const asked = await fixture.user.call('GET', url, { headers })
    const cookie = String(asked.headers['set-cookie']).split(';')[0]
    const { text } = await fixture.server.mailTo('mine@browser.example')
    const code = /\b\d{6}\b/.exec(text)?.[0] ?? ''
    expect((await bind('mine@browser.example', code)).code).toBe('MailCodeWrong')
    const query = new URLSearchParams({ email: 'mine@browser.example', code })
    const both = { headers: { cookie: `${fixture.user.cookie}; ${cookie}` } }
    const bound = await fixture.user.call('GET', `/api/oauth/email/bind?${query}`, both)
    expect(bound.success).toBe(true)
  })
})

describe('requesting a code', () => {
  it('is refused for a registration that needs no code, but works for binding', async () => {
    await fixture.put('EmailVerificationEnabled', 'false')
    const before = fixture.server.mails.length
    expect(await fixture.askCode('none@example.com')).toMatchObject({ code: 'MailVerificationOff' })
    const code = await fixture.codeFor('bound@example.com', fixture.user.call)
    expect((await bind('bound@example.com', code)).success).toBe(true)
    expect(fixture.server.mails.length).toBe(before + 1)
    await fixture.put('EmailVerificationEnabled', 'true')
  })

  it('is refused without an address and for an invalid address', async () => {
    expect(await fixture.askCode('')).toMatchObject({ message: '请输入邮箱！' })
    expect(await fixture.askCode('nobody')).toMatchObject({ message: '邮箱地址格式错误' })
    expect((await fixture.anybody('GET', '/api/verification')).status).toBe(400)
  })

  it('is limited to one per 30 s and five an hour for an address', async () => {
    expect((await fixture.askCode('eager@example.com')).success).toBe(true)
    const again = await fixture.askCode('Eager@example.com ')
    expect(again.status).toBe(429)
    expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(30)
    for (let n = 0; n < 4; n += 1) {
      fixture.clock.ahead += 30_001
      expect((await fixture.askCode('eager@example.com')).success).toBe(true)
    }
    fixture.clock.ahead += 30_001
    expect((await fixture.askCode('eager@example.com')).status).toBe(429)
  })

  it('is limited to twenty an hour for a visitor', async () => {
    const asked = await Promise.all(
      Array.from({ length: 25 }, (_, n) => fixture.askCode(`many${n}@example.com`)),
    )
    expect(asked.filter(({ success }) => success)).toHaveLength(20)
    expect(asked.filter(({ status }) => status === 429)).toHaveLength(5)
  })

  it('is limited to twenty an hour for a visitor even if the mails fail', async () => {
    await fixture.put('SMTPPort', '1')
    const asked = await Promise.all(
      Array.from({ length: 22 }, (_, n) => fixture.askCode(`fails${n}@example.com`)),
    )
    expect(asked.filter(({ code }) => code === 'MailNotSent')).toHaveLength(20)
    expect((await fixture.askCode('fails@example.com')).status).toBe(429)
    await fixture.put('SMTPPort', String(fixture.server.port))
  })

  it('gives the same answer for a taken address, which gets a mail that says so', async () => {
    const code = await fixture.codeFor('taken@example.com')
    await register('taken@example.com', code)
    fixture.clock.ahead += 30_001
    const free = await fixture.askCode('free@example.com')
    const taken = await fixture.askCode('taken@example.com')
    expect([taken.status, taken.success, taken.message]).toEqual([200, true, free.message])
    const { text } = await fixture.server.mailTo('taken@example.com')
    expect(text).not.toMatch(/\b\d{6}\b/)
    expect(text).toContain('已经绑定了一个账户')
  })

  it('reports a mail that cannot be sent, and does not count it for the address', async () => {
    await fixture.put('SMTPPort', '1')
    const failed = await fixture.askCode('unlucky@example.com')
    expect(failed).toMatchObject({ status: 200, code: 'MailNotSent' })
    await fixture.put('SMTPServer', '')
    const none = await fixture.askCode('unlucky@example.com')
    expect(none).toMatchObject({ message: '管理员尚未配置邮件服务器' })
    await fixture.put('SMTPServer', '127.0.0.1')
    await fixture.put('SMTPPort', String(fixture.server.port))
    expect((await fixture.askCode('unlucky@example.com')).success).toBe(true)
  })

  it('needs a session if the code is for binding', async () => {
    const url = '/api/verification?email=a@example.com&purpose=bind'
    expect((await fixture.anybody('GET', url)).status).toBe(401)
  })
})

describe('binding a mail address', () => {
  it.each([
    ['', '123456', '请输入邮箱！'],
    ['x@y', '123456', '邮箱地址格式错误'],
    ['a@example.com', ' ', '请输入邮箱验证码！'],
    ['a@example.com', '123456', '验证码错误或已过期'],
  ])('is refused for the address %j and the code %j', async (email, code, message) => {
    expect(await bind(email, code)).toMatchObject({ status: 200, success: false, message })
  })

  it('shows the address to its user, and replaces the previous address', async () => {
    for (const email of ['first@example.com', 'second@example.com']) {
      const code = await fixture.codeFor(email, fixture.admin.call)
      expect((await bind(email, code, fixture.admin.call)).success).toBe(true)
      const { data } = await fixture.admin.call<{ email: string }>('GET', '/api/user/self')
      expect(data.email).toBe(email)
    }
    expect((await fixture.logIn('second@example.com')).id).toBe(fixture.admin.id)
    await expect(fixture.logIn('first@example.com')).rejects.toThrow('用户名或密码错误')
  })
})

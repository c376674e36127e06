import { describe, expect, it } from 'vitest'
import { startingWith, zh } from '#test/support/console-texts.ts'
import { ROOT_USER } from './support/admin-site.ts'
import { pageFixture } from './support/console-fixture.ts'
import { ok, refused, STATUS, startFakeSite } from './support/fake-site.ts'

const PASSWORD = 'correct horse'

const app = pageFixture({
  language: 'zh',
  startSite: () =>
    startFakeSite({
      'GET /api/status': () => ok(STATUS),
      'GET /api/setup': () => ok({ status: false, root_init: false, database_type: 'postgres' }),
      'POST /api/user/login': () => ok(ROOT_USER),
      'GET /api/token/': () => ok({ items: [], page: 0, total: 0 }),
    }),
})

const calls = (path: string) => app.site.calls.filter((call) => call.path === path)
const heading = (name: string) => app.page.getByRole('heading', { level: 1, name })

async function fillLogin(): Promise<void> {
  await app.page.getByLabel(zh('auth.username')).fill('root')
  await app.page.getByLabel(zh('auth.password'), { exact: true }).fill('correct horse')
}

describe('the login page', () => {
  it('focuses its first field, so that typed letters appear at once', async () => {
    await app.page.goto(`${app.site.url}/login`)
    await heading(zh('auth.welcome', { name: 'Tallygate' })).waitFor()
    await app.page.keyboard.type('root')
    await expect.poll(() => app.page.getByLabel(zh('auth.username')).inputValue()).toBe('root')
  })

  it('requires both fields, and focuses the empty one', async () => {
    await app.page.goto(`${app.site.url}/login`)
    await app.page.getByLabel(zh('auth.username')).fill('root')
    await app.page
      .getByRole('main')
      .getByRole('button', { name: zh('shell.login') })
      .click()
    await app.page.getByText(zh('auth.credentialsRequired')).waitFor()
    const focused = () => app.page.evaluate(() => document.activeElement?.getAttribute('name'))
    // The focus moves one animation frame after the message appears.
    await expect.poll(focused).toBe('password')
    expect(calls('/api/user/login')).toEqual([])
  })

  it('shows other login methods first where only the super admin may use a password', async () => {
    const off = { ...STATUS, password_login_enabled: false, github_oauth: true }
    app.site.routes['GET /api/status'] = () => ok(off)
    await app.page.goto(`${app.site.url}/login`)
    const gitHub = zh('oauth.signInWith', { site: zh('oauth.siteNameInSentence.github') })
    await app.page.getByRole('button', { name: gitHub }).waitFor()
    await expect
      .poll(() => app.page.getByLabel(zh('auth.password'), { exact: true }).count())
      .toBe(0)
    await expect.poll(() => app.page.getByRole('link', { name: zh('auth.forgot') }).count()).toBe(0)
    await app.page.getByRole('button', { name: zh('auth.signInWithPassword') }).click()
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.waitForURL(`${app.site.url}/app/tokens`)
    await app.page.goto(`${app.site.url}/reset`)
    await app.page.getByText(zh('auth.passwordClosed')).waitFor()
  })

  it('shows the message of the server when it refuses a login', async () => {
    app.site.routes['POST /api/user/login'] = () => refused('The username or the password is wrong')
    await app.page.goto(`${app.site.url}/login`)
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.getByRole('alert').getByText('The username or the password is wrong').waitFor()
  })

  it('warns the super admin of a common password, on the next page', async () => {
    const logIn = async (password: string) => {
      await app.page.goto(`${app.site.url}/login`)
      await fillLogin()
      await app.page.getByLabel(zh('auth.password'), { exact: true }).fill(password)
      await app.page.keyboard.press('Enter')
    }
    const warning = app.page.getByRole('alert').getByText(zh('auth.defaultPassword'))
    await logIn('Admin123')
    await app.page.waitForURL(`${app.site.url}/app/tokens`)
    await warning.waitFor()
    await expect.poll(() => app.page.getByText(zh('auth.success')).count()).toBe(0)
    await logIn('correct horse')
    await app.page.getByText(zh('auth.success')).waitFor()
    await expect.poll(() => warning.count()).toBe(0)
    // The warning also appears after a second login step, but not for users of a lower level.
    const needed = { second_factor: { ticket: 't1', kinds: ['totp'] } }
    app.site.routes['POST /api/user/login'] = () => ok(needed)
    app.site.routes['POST /api/user/login/second'] = () => ok(ROOT_USER)
    await logIn('12345678')
    await app.page.getByLabel(zh('ui.verificationCode')).fill('123456')
    await app.page.keyboard.press('Enter')
    await warning.waitFor()
    app.site.routes['POST /api/user/login'] = () => ok({ ...ROOT_USER, role: 1 })
    await logIn('12345678')
    await app.page.getByText(zh('auth.success')).waitFor()
    await expect.poll(() => warning.count()).toBe(0)
  })

  it('sends one request for a double press, stores the user and opens the tokens', async () => {
    let release = () => {}
    const gate = new Promise<void>((done) => {
      release = done
    })
    app.site.routes['POST /api/user/login'] = async () => {
      await gate
      return ok(ROOT_USER)
    }
    await app.page.goto(`${app.site.url}/login`)
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.keyboard.press('Enter')
    await app.page.getByText(zh('ui.duplicateSubmit')).waitFor()
    release()
    await app.page.waitForURL(`${app.site.url}/app/tokens`)
    expect(calls('/api/user/login')).toHaveLength(1)
    await expect
      .poll(() => app.page.evaluate(() => localStorage.getItem('user')))
      .toBe(JSON.stringify(ROOT_USER))
  })

  it('returns to the page that required the login, and never to another site', async () => {
    await app.page.goto(`${app.site.url}/app/tokens?keyword=a`)
    await heading(zh('auth.welcome', { name: 'Tallygate' })).waitFor()
    expect(new URL(app.page.url()).searchParams.get('returnTo')).toBe('/app/tokens?keyword=a')
    await app.page.goto(`${app.site.url}/login?returnTo=//evil.example/x`)
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.waitForURL(`${app.site.url}/app/tokens`)
  })

  it('appears when the server refuses a session; it forgets the user, not the page', async () => {
    await app.page.goto(`${app.site.url}/login`)
    await app.page.evaluate((user) => localStorage.setItem('user', user), JSON.stringify(ROOT_USER))
    app.site.routes['GET /api/token/'] = () => ({
      status: 401,
      body: { success: false, message: 'no session', code: 'Unauthorized' },
    })
    await app.page.goto(`${app.site.url}/app/tokens`)
    await app.page.getByText(zh('auth.expired')).first().waitFor()
    const { searchParams } = new URL(app.page.url())
    expect(searchParams.get('expired')).toBe('true')
    expect(searchParams.get('returnTo')).toBe('/app/tokens')
    await expect.poll(() => app.page.evaluate(() => localStorage.getItem('user'))).toBeNull()
  })

  it('remembers the current page without the query that opened the browser tab', async () => {
    const unread = 'GET /api/user/messages/unread_count'
    app.site.routes[unread] = () => ({
      status: 401,
      body: { success: false, message: 'no session' },
    })
    await app.page.goto(`${app.site.url}/login?returnTo=%2Fabout`)
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.waitForURL(/expired=true/)
    expect(new URL(app.page.url()).searchParams.get('returnTo')).toBe('/about')
  })
})

describe('a verification code', () => {
  const focused = () => app.page.locator('[aria-invalid="true"]:focus')
  const invalid = () => app.page.locator('[aria-invalid="true"]')

  it('requires only the email address, and a wrong code is marked at its field', async () => {
    app.site.routes['GET /api/status'] = () => ok({ ...STATUS, email_verification: true })
    app.site.routes['POST /api/user/register'] = () =>
      refused('The code is wrong or has expired', 'MailCodeWrong')
    await app.page.goto(`${app.site.url}/register`)
    await app.page.getByRole('button', { name: zh('auth.sendCode') }).click()
    await focused().waitFor()
    await expect.poll(() => invalid().count()).toBe(1)
    await expect.poll(() => focused().getAttribute('name')).toBe('email')
    const values = {
      username: 'ada',
      password: PASSWORD,
      confirmPassword: PASSWORD,
      code: '123456',
    }
    for (const [name, value] of Object.entries({ ...values, email: 'ada@example.com' })) {
      await app.page.locator(`input[name="${name}"]`).fill(value)
    }
    await app.page.keyboard.press('Enter')
    await app.page.getByText('The code is wrong or has expired').waitFor()
    await focused().waitFor()
    await expect.poll(() => focused().getAttribute('name')).toBe('code')
    await focused().fill('1234567')
    await expect.poll(() => invalid().count()).toBe(0)
    app.site.routes['POST /api/user/register'] = () =>
      refused('The username is taken', 'UsernameTaken')
    await app.page.keyboard.press('Enter')
    await app.page.getByText('The username is taken').waitFor()
    await focused().waitFor()
    await expect.poll(() => focused().getAttribute('name')).toBe('username')
  })

  it('is not sent to an invalid address, which is marked with all other faults', async () => {
    app.site.routes['GET /api/status'] = () => ok({ ...STATUS, email_verification: true })
    await app.page.goto(`${app.site.url}/register`)
    await app.page.locator('input[name="email"]').fill('nonsense')
    await app.page.locator('input[name="password"]').fill('short')
    await app.page.keyboard.press('Enter')
    await app.page.getByText(zh('auth.emailInvalid')).waitFor()
    const names = await invalid().evaluateAll((all) => all.map((one) => one.getAttribute('name')))
    expect(names).toEqual(['username', 'password', 'confirmPassword', 'email', 'code'])
    expect(calls('/api/user/register')).toEqual([])
  })

  it('is marked at its field when the second login step refuses it', async () => {
    app.site.routes['POST /api/user/login'] = () =>
      ok({ second_factor: { ticket: 't1', kinds: ['totp'] } })
    app.site.routes['POST /api/user/login/second'] = () => refused('The code is wrong', 'CodeWrong')
    await app.page.goto(`${app.site.url}/login`)
    await fillLogin()
    await app.page.keyboard.press('Enter')
    await app.page.getByLabel(zh('ui.verificationCode')).fill('123456')
    await app.page.keyboard.press('Enter')
    await app.page.getByText('The code is wrong').waitFor()
    await focused().waitFor()
    await focused().fill('654321')
    await expect.poll(() => app.page.getByText('The code is wrong').count()).toBe(0)
    app.site.routes['POST /api/user/login/second'] = () =>
      refused('The login has expired', 'LoginTicketOver')
    await app.page.keyboard.press('Enter')
    await app.page.getByRole('alert').getByText('The login has expired').waitFor()
    await expect.poll(() => invalid().count()).toBe(0)
  })
})

describe('a site status that does not arrive', () => {
  const hang = (): ((data: unknown) => void) => {
    let answer: (data: unknown) => void = () => {}
    const answered = new Promise((done) => {
      answer = done
    })
    app.site.routes['GET /api/status'] = async () => ok(await answered)
    return answer
  }

  it('causes an error after the timeout; the page shows placeholders until then', async () => {
    await app.page.addInitScript(() => {
      const own = AbortSignal.timeout.bind(AbortSignal)
      AbortSignal.timeout = (ms) => own(ms / 5)
    })
    const answer = hang()
    await app.page.goto(`${app.site.url}/about`, { waitUntil: 'commit' })
    await app.page.locator('[aria-busy=true] .tg-skeleton').first().waitFor()
    await app.page.getByText(zh('shell.statusFailed'), { exact: true }).waitFor()
    await heading(zh('about.aboutSite', { name: 'Tallygate' })).waitFor()
    answer(STATUS)
  })

  it('causes one message when the server refuses it and another when it fails', async () => {
    app.site.routes['GET /api/status'] = () => refused('no status')
    await app.page.goto(`${app.site.url}/login`)
    await app.page.getByText(zh('shell.unreachable'), { exact: true }).waitFor()
    app.site.routes['GET /api/status'] = () => ({
      status: 500,
      body: { success: false, message: '' },
    })
    await app.page.reload()
    await app.page.getByText(zh('shell.statusFailed'), { exact: true }).waitFor()
    app.faults.length = 0
  })

  it('is replaced by the stored status until the new status arrives', async () => {
    await app.page.goto(`${app.site.url}/about`)
    await heading(zh('about.aboutSite', { name: 'Tallygate' })).waitFor()
    const answer = hang()
    await app.page.reload({ waitUntil: 'commit' })
    await heading(zh('about.aboutSite', { name: 'Tallygate' })).waitFor()
    expect(calls('/api/status')).toHaveLength(2)
    answer({ ...STATUS, setup: false })
    await heading(zh('setup.title')).waitFor()
    expect(new URL(app.page.url()).pathname).toBe('/setup')
  })
})

describe('the setup page', () => {
  it('opens for every path until the setup is done', async () => {
    app.site.routes['GET /api/status'] = () => ok({ ...STATUS, setup: false })
    await app.page.goto(`${app.site.url}/login`)
    await heading(zh('setup.title')).waitFor()
    expect(new URL(app.page.url()).pathname).toBe('/setup')
    await app.page
      .getByText(zh('setup.database', { name: 'PostgreSQL' }), { exact: true })
      .waitFor()
  })

  it('redirects to the home page once the setup is done', async () => {
    await app.page.goto(`${app.site.url}/setup`)
    await heading(zh('home.headline')).waitFor()
    expect(new URL(app.page.url()).pathname).toBe('/')
  })

  it('shows errors beside their fields, then sends the specified request', async () => {
    app.site.routes['GET /api/status'] = () => ok({ ...STATUS, setup: false })
    app.site.routes['POST /api/setup'] = () => ok(ROOT_USER)
    app.site.routes['GET /api/user/self'] = () => ok({ ...ROOT_USER, request_count: 0, quota: 0 })
    await app.page.goto(`${app.site.url}/setup`)
    await app.page.getByLabel(zh('auth.password'), { exact: true }).fill('short')
    await app.page.getByRole('button', { name: zh('setup.submit') }).click()
    for (const words of [
      zh('setup.usernameRequired'),
      zh('setup.passwordTooShort'),
      zh('ui.passwordsDiffer'),
    ]) {
      await app.page.getByText(words).waitFor()
    }
    await app.page.getByLabel(zh('auth.name')).fill('administrator-root')
    await app.page.getByText(zh('setup.usernameTooLong')).waitFor()
    await app.page.getByLabel(zh('auth.password'), { exact: true }).fill('a'.repeat(129))
    await app.page.getByText(zh('setup.passwordTooLong')).waitFor()
    await app.page.getByLabel(zh('auth.name')).fill('root')
    await app.page.getByLabel(zh('auth.password'), { exact: true }).fill('correct horse')
    await app.page.getByLabel(zh('auth.confirmPassword')).fill('correct horse')
    await app.page.getByRole('radio', { name: zh('setup.self') }).check()
    await app.page.getByRole('button', { name: zh('setup.submit') }).click()
    await app.page.getByText(zh('setup.done')).waitFor()
    app.site.routes['GET /api/status'] = () => ok(STATUS)
    await app.page.waitForURL('**/app/start')
    await expect.poll(() => app.page.evaluate(() => localStorage.getItem('user'))).toContain('root')
    expect(calls('/api/setup').at(-1)?.body).toEqual({
      username: 'root',
      password: 'correct horse',
      confirmPassword: 'correct horse',
      SelfUseModeEnabled: true,
      DemoSiteEnabled: false,
    })
  })
})

describe('a password reset', () => {
  it('announces what the link does, then shows the result; the link works once', async () => {
    let isSpent = false
    app.site.routes['POST /api/user/reset'] = () =>
      isSpent ? refused('The link is not valid', 'ResetLinkInvalid') : ok('k7Tq-9vXm-2pRz')
    const link = `${app.site.url}/user/reset?email=ada@example.com&token=x`
    const press = app.page.getByRole('button', { name: zh('auth.resetTitle') })
    await app.page.goto(link)
    await heading(zh('auth.confirmTitle')).waitFor()
    await press.click()
    await heading(zh('auth.confirmedTitle')).waitFor()
    await expect.poll(() => app.page.getByText(zh('auth.confirmLead')).count()).toBe(0)
    isSpent = true
    await app.page.goto(link)
    await press.click()
    await app.page.getByRole('alert').getByText('The link is not valid').waitFor()
    await expect.poll(() => press.isDisabled()).toBe(true)
  })

  it('disables the button once the mail is sent, but not after an invalid address', async () => {
    app.site.routes['GET /api/reset_password'] = () =>
      refused('The address is not valid', 'MailInvalid')
    await app.page.goto(`${app.site.url}/reset`)
    const email = app.page.getByLabel(zh('auth.email'))
    await email.fill('nobody')
    await app.page.keyboard.press('Enter')
    await app.page.locator('[aria-invalid="true"][aria-describedby]:focus').waitFor()
    await app.page.getByText('The address is not valid').waitFor()
    app.site.routes['GET /api/reset_password'] = () => ok(null)
    await email.fill('ada@example.com')
    await expect.poll(() => app.page.getByText('The address is not valid').count()).toBe(0)
    await app.page.getByRole('button', { name: zh('auth.resetSend') }).click()
    await app.page.getByText(zh('auth.resetSent')).waitFor()
    await expect
      .poll(() =>
        app.page.getByRole('button', { name: startingWith(`${zh('ui.retry')} (`) }).isDisabled(),
      )
      .toBe(true)
  })
})

it('a user who must change a password gets no live connection and no unread count', async () => {
  const sockets: string[] = []
  app.page.on('websocket', (socket) => sockets.push(socket.url()))
  const unread = () => calls('/api/user/messages/unread_count').length
  const comeAs = async (user: object) => {
    await app.page.goto(`${app.site.url}/login`)
    await app.page.evaluate((me) => localStorage.setItem('user', me), JSON.stringify(user))
    sockets.length = 0
    const before = unread()
    await app.page.goto(`${app.site.url}/about`)
    return before
  }
  const before = await comeAs({ ...ROOT_USER, must_change_password: true })
  // After this wait, the bell would be rendered and would have opened the live connection.
  await app.page.waitForLoadState('networkidle')
  expect([sockets, unread()]).toEqual([[], before])
  const asked = await comeAs(ROOT_USER)
  await expect.poll(unread).toBeGreaterThan(asked)
  await expect.poll(() => sockets.length).toBeGreaterThan(0)
})

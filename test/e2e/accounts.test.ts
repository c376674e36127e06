import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { en, startingWith, textPattern, zh } from '#test/support/console-texts.ts'
import { startMailServer } from '#test/support/mail-server.ts'
import { siteOptions, startScriptedSites } from '#test/support/simulated-login-sites.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ALL_ROLES, setOption, testProduct } from '#test/support/test-product.ts'
import { budget } from '#test/support/time-limit.ts'
import { eventually, openRealPage, realPage, submitLogin } from './open-product-page.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const SECOND_PASSWORD = 'battery staple'
const LAST_PASSWORD = 'a third password'

const product = startedOnce(() => testProduct({ roles: ALL_ROLES }))
const mails = startedOnce(startMailServer)
const sites = startedOnce(startScriptedSites)
const open = realPage(() => product.url)
let verifier: Server
let totp: TOTP
let recoveryCodes: string[] = []

beforeAll(async () => {
  const { root } = product
  const { GitHubOAuthEnabled, ...gitHub } = Object.fromEntries(
    Object.entries(siteOptions(sites.url)).filter(([key]) => /^github/i.test(key)),
  )
  for (const [key, value] of Object.entries(gitHub)) await setOption(root, key, value)
  await setOption(root, 'GitHubOAuthEnabled', GitHubOAuthEnabled)
  await setOption(root, 'ServerAddress', product.url)
  await setOption(root, 'SMTPServer', '127.0.0.1')
  await setOption(root, 'SMTPPort', String(mails.port))
  await setOption(root, 'SMTPFrom', 'noreply@site.example')
  await setOption(root, 'EmailVerificationEnabled', 'true')
})

afterAll(() => verifier?.close())

const button = (name: string | RegExp) => open.page.getByRole('main').getByRole('button', { name })
const box = (name: string) => open.page.getByRole('textbox', { name, exact: true })

const heading = (name: string) => open.page.getByRole('heading', { level: 1, name })
const inDialog = (name: string) =>
  open.page.getByRole('dialog').getByRole('textbox', { name, exact: true })

async function logIn(name: string, password: string): Promise<void> {
  await submitLogin(open.page, name, password)
  await heading(en('shell.tokens')).waitFor()
}

/**
 * Each recovery code is valid once. They are used here because the app's codes are valid once too,
 * and the next one would take half a minute.
 */
async function showRecoveryCode(on: Page): Promise<void> {
  await on.getByRole('button', { name: en('auth.useRecovery') }).click()
  await on.getByLabel(en('auth.recoveryCode')).fill(recoveryCodes.shift() ?? '')
  await on.getByRole('button', { name: en('auth.verify') }).click()
}

async function logOut(): Promise<void> {
  await open.page.getByRole('button', { name: startingWith(en('shell.account')) }).click()
  await open.page.getByRole('menuitem', { name: en('shell.logout') }).click()
  await open.page.waitForURL(`${product.url}/login`)
}

/** These tests use one account, and each continues where the previous test ended. */
describe('a user’s own account', () => {
  it('is registered with the code from an e-mail', async () => {
    await open.page.goto(`${product.url}/login?aff=abcdefghij`)
    await open.page
      .getByRole('main')
      .getByRole('link', { name: en('auth.toRegister') })
      .click()
    await open.page.waitForURL('**/register?aff=abcdefghij')
    await button(en('auth.toRegister')).click()
    await open.page.getByText(en('auth.usernameRequired')).waitFor()
    await open.page.getByText(en('auth.emailRequired')).waitFor()
    await box(en('auth.name')).fill('ada')
    await box(en('auth.password')).fill(PASSWORD)
    await box(en('auth.confirmPassword')).fill(PASSWORD)
    await box(en('auth.email')).fill(EMAIL)
    await button(en('auth.sendCode')).click()
    await open.page.getByText(en('auth.codeSent')).waitFor()
    const again = button(textPattern('en', 'auth.resendCode', { seconds: /\d+/ }))
    await again.waitFor()
    await expect.poll(() => again.isDisabled()).toBe(true)
    const { text } = await mails.mailTo(EMAIL)
    await box(en('auth.code')).fill(/\b\d{6}\b/.exec(text)?.[0] ?? '')
    await button(en('auth.toRegister')).click()
    await open.page.waitForURL('**/login')
    await open.page.getByText(en('auth.registered')).waitFor()
  })

  it('accepts a login by its e-mail address, which the profile page shows', async () => {
    await logIn(EMAIL, PASSWORD)
    await open.page.goto(`${product.url}/app/me`)
    await open.page.getByText(en('me.mailLead')).waitFor()
    await open.page.getByText(EMAIL, { exact: true }).first().waitFor()
  })

  it('gets two-step login, which the next login asks for', async () => {
    await open.page.getByRole('button', { name: en('setup.submit') }).click()
    const dialog = open.page.getByRole('dialog')
    await inDialog(en('credentials.yourPassword')).fill(PASSWORD)
    await dialog.getByRole('button', { name: en('credentials.continue') }).click()
    const secret = (await dialog.locator('code').innerText()).replace(/\s/g, '')
    totp = new TOTP({ secret: Secret.fromBase32(secret) })
    await open.page.getByLabel(en('credentials.appCode')).fill(totp.generate())
    await open.page.getByRole('button', { name: en('credentials.turnOn') }).click()
    await open.page.getByRole('button', { name: en('credentials.codesSaved') }).waitFor()
    recoveryCodes = await dialog.getByRole('listitem').allInnerTexts()
    await open.page.getByRole('button', { name: en('credentials.codesSaved') }).click()
    await logOut()
    await submitLogin(open.page, 'ada', PASSWORD)
    await heading(en('ui.twoStepLogin')).waitFor()
    // The code of the confirmation was used. The next code is already accepted.
    const next = totp.generate({ timestamp: Date.now() + 30_000 })
    await open.page.getByLabel(en('ui.verificationCode'), { exact: true }).fill(next)
    await open.page.getByRole('button', { name: en('auth.verify') }).click()
    await heading(en('shell.tokens')).waitFor()
  })

  it('is bound to GitHub, accepts that login, and ends its session by a new password', async () => {
    sites.who = { id: 4711, login: 'ada-codes' }
    await open.page.goto(`${product.url}/app/me`)
    const row = open.page.getByRole('listitem').filter({ hasText: zh('oauth.site.github') })
    await row.getByRole('button', { name: en('me.bindSubmit') }).click()
    await open.page.getByText(en('oauth.bound', { site: 'GitHub' })).waitFor()
    await row.getByText('4711').waitFor()
    const there = await openRealPage(open.browser, product.url)
    await there.page.goto(`${product.url}/login`)
    await there.page
      .getByRole('button', { name: en('oauth.signInWith', { site: 'GitHub' }) })
      .click()
    await there.page.getByRole('heading', { name: en('ui.twoStepLogin') }).waitFor()
    await showRecoveryCode(there.page)
    await there.page.getByRole('heading', { level: 1, name: en('shell.tokens') }).waitFor()
    await there.page.getByRole('button', { name: `${en('shell.account')}: ada` }).waitFor()

    await open.page.reload()
    await eventually(() =>
      open.page
        .getByRole('table', { name: en('credentials.sessions') })
        .getByRole('row')
        .count(),
    )
      // The header row and the two sessions.
      .toBe(3)
    expect(there.faults).toEqual([])
    const left = there.page.waitForURL('**/login?expired=true**')
    await open.page.getByRole('button', { name: en('me.changePassword') }).click()
    await inDialog(en('me.currentPassword')).fill(PASSWORD)
    await inDialog(en('ui.newPassword')).fill(SECOND_PASSWORD)
    await inDialog(en('me.newPasswordAgain')).fill(SECOND_PASSWORD)
    await open.page
      .getByRole('dialog')
      .getByRole('button', { name: en('me.changePassword') })
      .click()
    await open.page.getByText(en('me.passwordChanged')).waitFor()
    const changedAt = performance.now()
    await left
    expect(performance.now() - changedAt).toBeLessThan(budget(1_000))
    await there.page.context().close()
  })

  it('gets a new password through the link of an e-mail, which works once', async () => {
    await logOut()
    await open.page.getByRole('link', { name: en('auth.forgot') }).click()
    await box(en('auth.email')).fill(EMAIL)
    await button(en('auth.resetSend')).click()
    await open.page.getByText(en('auth.resetSent')).waitFor()
    const again = button(textPattern('en', 'auth.resetRetryIn', { seconds: /\d+/ }))
    await expect.poll(() => again.isDisabled()).toBe(true)
    const { text } = await mails.mailTo(EMAIL)
    const link = /http\S+/.exec(text)?.[0] ?? ''
    await open.page.goto(link)
    await button(en('auth.confirmSubmit')).click()
    await button(en('auth.confirmDone')).waitFor()
    const made = await box(en('ui.newPassword')).inputValue()
    expect(made).toMatch(/^\w{16}$/)
    const next = open.page.getByRole('link', { name: en('auth.confirmNext') })
    await expect.poll(() => next.getAttribute('href')).toBe('/login')
    await expect.poll(() => open.page.evaluate(() => navigator.clipboard.readText())).toBe(made)
    await open.page.goto(link)
    await button(en('auth.confirmSubmit')).click()
    await open.page
      .getByRole('alert')
      .getByText('The reset link is invalid or has expired')
      .waitFor()

    await open.page.getByRole('link', { name: en('auth.backToLogin') }).click()
    await submitLogin(open.page, 'ada', made)
    await showRecoveryCode(open.page)
    await heading(en('me.forcedPassword')).waitFor()
    // No other page can be opened before the password is changed.
    await open.page.goto(`${product.url}/app/me`)
    await heading(en('me.forcedPassword')).waitFor()
    await box(en('me.resetPassword')).fill(made)
    await box(en('ui.newPassword')).fill(LAST_PASSWORD)
    await box(en('me.newPasswordAgain')).fill(LAST_PASSWORD)
    await button(en('me.forcedPasswordSubmit')).click()
    await heading(en('shell.me')).waitFor()
    await logOut()
    await submitLogin(open.page, 'ada', LAST_PASSWORD)
    await showRecoveryCode(open.page)
    await heading(en('shell.tokens')).waitFor()
    await open.page.reload()
    await heading(en('shell.tokens')).waitFor()
    await logOut()
  })
})

describe('the human check', () => {
  /** Replaces the provider's script as far as the console uses it. The check solves itself. */
  const SCRIPT = `
    let next = 0
    const solve = (options) => setTimeout(() => options.callback('solved-' + (next += 1)), 0)
    const shown = new Map()
    window.turnstile = {
      render(box, options) {
        const id = 'widget-' + shown.size
        shown.set(id, options)
        box.textContent = 'checked for ' + options.action + ' at ' + options.sitekey
        solve(options)
        return id
      },
      reset: (id) => solve(shown.get(id)),
      remove: (id) => shown.delete(id),
    }`

  it('loads under the strict content policy, and each request sends a new token', async () => {
    const tokens: (string | null)[] = []
    verifier = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk
      })
      request.on('end', () => {
        tokens.push(new URLSearchParams(body).get('response'))
        response.end(JSON.stringify({ success: true, hostname: '127.0.0.1', action: 'login' }))
      })
    })
    await new Promise<void>((done) => verifier.listen(0, '127.0.0.1', done))
    const { port } = verifier.address() as AddressInfo
    // The open page would load the status again, but its content security policy does not allow the
    // script.
    await open.page.goto('about:blank')
    await setOption(product.root, 'TurnstileVerifyURL', `http://127.0.0.1:${port}/`)
    await setOption(product.root, 'TurnstileSiteKey', 'site-key')
    await setOption(product.root, 'TurnstileSecretKey', 'secret')
    await setOption(product.root, 'TurnstileCheckEnabled', 'true')
    await open.page.route('https://challenges.cloudflare.com/turnstile/**', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: SCRIPT }),
    )
    await product.root.must('POST', '/api/user/', { username: 'bob', password: PASSWORD })
    await open.page.goto(`${product.url}/login`)
    await open.page.getByText('checked for login at site-key').waitFor()
    await submitLogin(open.page, 'bob', 'wrong password')
    await open.page.getByRole('alert').getByText('Wrong username or password').waitFor()
    await logIn('bob', PASSWORD)
    expect(tokens).toEqual(['solved-1', 'solved-2'])
  })

  it('no page causes a policy violation, a console error or a missing file', () => {
    expect(open.faults).toEqual([])
  })
})

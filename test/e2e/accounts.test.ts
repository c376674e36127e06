import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '#test/support/browser.ts'
import { type MailServer, startMailServer } from '#test/support/mail-server.ts'
import { setOption, type TestProduct, testProduct } from '#test/support/product.ts'
import { type OpenPage, openRealPage } from './open-real-page.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const ROLES = new Set(['write-api', 'read-api', 'projections', 'relay', 'console'] as const)

let browser: Browser
let product: TestProduct
let mails: MailServer
let verifier: Server
let open: OpenPage
let page: Page
let newPassword = ''

beforeAll(async () => {
  ;[browser, mails, product] = await Promise.all([
    launchBrowser(),
    startMailServer(),
    testProduct({ roles: ROLES }),
  ])
  const { root } = product
  await setOption(root, 'SMTPServer', '127.0.0.1')
  await setOption(root, 'SMTPPort', String(mails.port))
  await setOption(root, 'SMTPFrom', 'noreply@site.example')
  await setOption(root, 'EmailVerificationEnabled', 'true')
  open = await openRealPage(browser, product.url)
  page = open.page
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await product?.close()
  await mails?.close()
  verifier?.close()
})

const button = (name: string | RegExp) => page.getByRole('main').getByRole('button', { name })
const box = (name: string) => page.getByRole('textbox', { name, exact: true })

async function logIn(name: string, password: string): Promise<void> {
  await page.getByLabel('Username or email').fill(name)
  await box('Password').fill(password)
  await button('Sign in').click()
  await page.getByRole('heading', { level: 1, name: 'API tokens' }).waitFor()
}

async function logOut(): Promise<void> {
  await page.evaluate(() => localStorage.removeItem('user'))
  await page.context().clearCookies()
  await page.goto(`${product.url}/login`)
}

describe('an account of one’s own', () => {
  it('is registered with the code of a mail', async () => {
    await page.goto(`${product.url}/login?aff=abcdefghij`)
    await page.getByRole('main').getByRole('link', { name: 'Sign up' }).click()
    await page.waitForURL('**/register?aff=abcdefghij')
    await button('Sign up').click()
    await page.getByText('The username is required!').waitFor()
    await page.getByText('Please enter your email!').waitFor()
    await box('Username').fill('ada')
    await box('Password').fill(PASSWORD)
    await box('Confirm the password').fill(PASSWORD)
    await box('Email').fill(EMAIL)
    await button('Send code').click()
    await page.getByText('Code sent, please check your mail!').waitFor()
    await button(/^Send again \(\d+\)$/).waitFor()
    expect(await button(/^Send again/).isDisabled()).toBe(true)
    const { text } = await mails.mailTo(EMAIL)
    await box('Code from the mail').fill(/\b\d{6}\b/.exec(text)?.[0] ?? '')
    await button('Sign up').click()
    await page.waitForURL('**/login')
    await page.getByText('Registered!').waitFor()
  })

  it('logs in by its address, which its page shows', async () => {
    await logIn(EMAIL, PASSWORD)
    await page.goto(`${product.url}/app/me`)
    await page.getByText('Signs you in, and resets a forgotten password').waitFor()
    await page.getByText(EMAIL, { exact: true }).first().waitFor()
  })

  it('gets a new password by the link of a mail, once', async () => {
    await logOut()
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await box('Email').fill(EMAIL)
    await button('Send the link').click()
    await page.getByText('If an account has this address').waitFor()
    expect(await button(/^Try again \(\d+\)$/).isDisabled()).toBe(true)
    const { text } = await mails.mailTo(EMAIL)
    const link = /http\S+/.exec(text)?.[0] ?? ''
    await page.goto(link)
    await button('Reset the password').click()
    await button('The password is reset').waitFor()
    newPassword = await box('New password').inputValue()
    expect(newPassword).toMatch(/^\w{16}$/)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(newPassword)
    await page.goto(link)
    await button('Reset the password').click()
    await page.getByRole('alert').getByText('The reset link is invalid or has expired').waitFor()
  })

  it('is told to change that password after the login', async () => {
    await page.getByRole('link', { name: 'Back to sign in' }).click()
    await logIn('ada', newPassword)
    await page.getByText('This password was made by the reset').waitFor()
  })
})

describe('the human check', () => {
  /** The provider's script, as far as the console uses it: it solves itself. */
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

  it('is loaded under the strict policy, and each call takes a token of its own', async () => {
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
    await setOption(product.root, 'TurnstileVerifyURL', `http://127.0.0.1:${port}/`)
    await setOption(product.root, 'TurnstileSiteKey', 'site-key')
    await setOption(product.root, 'TurnstileSecretKey', 'secret')
    await setOption(product.root, 'TurnstileCheckEnabled', 'true')
    await page.route('https://challenges.cloudflare.com/turnstile/**', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: SCRIPT }),
    )
    await logOut()
    await page.getByText('checked for login at site-key').waitFor()
    await page.getByLabel('Username or email').fill('ada')
    await box('Password').fill('wrong password')
    await button('Sign in').click()
    await page.getByRole('alert').getByText('Wrong username or password').waitFor()
    await logIn('ada', newPassword)
    expect(tokens).toEqual(['solved-1', 'solved-2'])
  })

  it('nothing went wrong on any page', () => {
    expect(open.faults).toEqual([])
  })
})

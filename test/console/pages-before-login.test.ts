import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Status } from '#read-api/contract/status.ts'
import { TEXTS, type Text } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from './support/accessibility-faults.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from './support/fake-site.ts'

const ALL_WAYS = {
  ...{ github_oauth: true, oidc_enabled: true, linuxdo_oauth: true },
  ...{ wechat_login: true, telegram_oauth: true, wechat_qrcode: '/favicon.svg' },
}
const SECOND = { ticket: 'ticket', kinds: ['totp', 'recovery', 'passkey'] }

const submit = (page: Page) => page.locator('form button[type="submit"]').last().click()

type EntryPage = {
  path: string
  name: string
  /** The status of the site, where it differs from the default. */
  status?: Partial<Status>
  /** The steps before the check. */
  perform?: (page: Page, text: Text) => Promise<unknown>
  /** The only part to check. */
  part?: string
}

const PAGES: readonly EntryPage[] = [
  { path: '/', name: 'home' },
  { path: '/login?expired=true', name: 'login' },
  { path: '/login', name: 'login-ways', status: ALL_WAYS },
  {
    path: '/login',
    name: 'login-no-password',
    status: { ...ALL_WAYS, password_login_enabled: false },
    perform: async (page, text) => {
      await page.getByRole('button', { name: text('auth.signInWithPassword') }).click()
      await page.locator('input[name="password"]').waitFor()
    },
  },
  {
    path: '/login',
    name: 'login-wechat',
    part: '.tg-dialog',
    status: ALL_WAYS,
    perform: async (page, text) => {
      await page.getByRole('button', { name: text('oauth.site.wechat') }).click()
      await page.getByRole('dialog').waitFor()
      await submit(page)
    },
  },
  {
    path: '/login',
    name: 'second-step',
    perform: async (page, text) => {
      await page.locator('input[name="username"]').fill('mia')
      await page.locator('input[name="password"]').fill('password')
      await submit(page)
      await page.getByRole('heading', { name: text('ui.twoStepLogin') }).waitFor()
      await submit(page)
    },
  },
  { path: '/register?aff=abc', name: 'register' },
  { path: '/register', name: 'register-closed', status: { register_enabled: false } },
  { path: '/reset', name: 'request-reset' },
  { path: '/user/reset?email=ada@example.com&token=x', name: 'confirm-reset' },
  {
    path: '/user/reset?email=ada@example.com&token=x',
    name: 'reset-done',
    perform: async (page, text) => {
      await submit(page)
      await page.getByText(text('auth.newPasswordHint')).waitFor()
    },
  },
  { path: '/setup', name: 'setup' },
  { path: '/no/such/page', name: 'not-found' },
]

const app = siteFixture(() =>
  startFakeSite({
    'GET /api/status': () => ok(STATUS),
    'GET /api/setup': () => ok({ status: false, root_init: false, database_type: 'postgres' }),
    'POST /api/user/login': () => ok({ second_factor: SECOND }),
    'POST /api/user/reset': () => ok('k7Tq-9vXm-2pRz'),
  }),
)

describe('pages before the login', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at any width, in either theme: ${language}`, {
      timeout: 120_000,
    }, async () => {
      const { page, faults, close } = await app.openPage({ language })
      for (const { path, name, status, perform, part } of PAGES) {
        const setup = path !== '/setup'
        app.site.routes['GET /api/status'] = () =>
          ok({ ...STATUS, email_verification: true, ...status, setup })
        // Passkeys require a host name. They do not work for an IP address.
        await page.goto(app.site.url.replace('127.0.0.1', 'localhost') + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page
          .locator('form, .tg-other-methods, .tg-home, .tg-message-page, .tg-alert')
          .first()
          .waitFor()
        await perform?.(page, TEXTS[language])
        const found = await lookFaults(page, `${name}-${language}`, [1280, 390], part)
        expect(found, name).toEqual([])
      }
      expect(faults).toEqual([])
      await close()
    })
  }
})
